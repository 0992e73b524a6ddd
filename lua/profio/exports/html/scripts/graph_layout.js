/* Lays out a graph of calls in layers, as Sugiyama, Tagawa and Toda do: cycles are broken, nodes
   get layers, long arcs a point in each layer between, layers an order with few crossings, and all
   of them an x. */
(function (page) {
  'use strict';
  const SIDE = 22, SLIM = 12, APART = 58; // pixels: beside boxes, beside points, between layers
  const SWEEPS = 16;

  /* Marks the arcs that close a cycle: a depth-first search from outermost callers meets a node
     that is on its way. Heavy arcs are followed first, so that light ones are turned. */
  function break_cycles(nodes, arcs) {
    const on_way = new Set(), seen = new Set(), called = new Set(arcs.map(arc => arc.to));
    const visit = node => {
      if (seen.has(node)) { return; }
      seen.add(node);
      on_way.add(node);
      for (const arc of arcs.filter(one => one.from === node).sort((a, b) => b.size - a.size)) {
        arc.back = on_way.has(arc.to);
        visit(arc.to);
      }
      on_way.delete(node);
    };
    nodes.filter(node => !called.has(node)).forEach(visit);
    nodes.forEach(visit);
  }

  /* Sets the layer of each node: below all of its callers, at most `wide` nodes in each. Callers
     with more callees than callers move down to their callees. */
  function set_layers(nodes, links, wide) {
    const count = [], above = new Map(nodes.map(node => [node, []]));
    const below = new Map(nodes.map(node => [node, []]));
    for (const node of nodes) { node.layer = -1; }
    for (const link of links) {
      above.get(link.below).push(link.above);
      below.get(link.above).push(link.below);
    }
    const put = (node, layer) => {
      count[node.layer]--;
      count[layer] = (count[layer] || 0) + 1;
      node.layer = layer;
    };
    const is_alone = node => !above.get(node).length && !below.get(node).length;
    const done = [], open = nodes.slice().sort((a, b) => is_alone(a) - is_alone(b) ||
      b.size - a.size);
    while (open.length > 0) {
      const at = open.findIndex(node => above.get(node).every(one => done.includes(one)));
      const [node] = open.splice(at, 1);
      let layer = Math.max(0, ...above.get(node).map(one => one.layer + 1));
      while (count[layer] >= wide) { layer++; }
      put(node, layer);
      done.unshift(node);
    }
    for (const node of done) {
      const layer = Math.min(...below.get(node).map(one => one.layer)) - 1;
      if (below.get(node).length > above.get(node).length && count[layer] < wide) {
        put(node, layer);
      }
    }
  }

  /* Returns the layers, lists of nodes and points of arcs; `up` and `down` of each are those in
     the layers beside it to which an arc leads. Each link gets its `way` from above to below. */
  function layers_of(nodes, links) {
    const layers = [];
    const put = item => {
      (layers[item.layer] = layers[item.layer] || []).push(Object.assign(item, { up: [],
        down: [] }));
      return item;
    };
    nodes.forEach(put);
    for (const link of links) {
      link.way = [link.above];
      for (let layer = link.above.layer + 1; layer < link.below.layer; layer++) {
        link.way.push(put({ layer, w: 0, h: 0, is_point: true }));
      }
      link.way.push(link.below);
      link.way.slice(1).forEach((item, i) => {
        item.up.push(link.way[i]);
        link.way[i].down.push(item);
      });
    }
    return layers.filter(Boolean);
  }

  // {====== Order ======

  function mean(list, value) {
    return list.reduce((sum, one) => sum + value(one), 0) / list.length;
  }

  function set_places(layer) {
    layer.forEach((item, i) => { item.place = (i + 0.5) / layer.length; });
  }

  /* Spreads the points of arcs evenly among the nodes of a layer. */
  function spread(layer) {
    for (const kind of [true, false]) {
      layer.filter(item => Boolean(item.is_point) === kind).forEach((item, i, list) => {
        item.place = (i + 1) / (list.length + 1);
      });
    }
    layer.sort((a, b) => a.place - b.place);
    set_places(layer);
  }

  /* Orders each layer by the mean place of the neighbours in the layer before it. */
  function sweep(layers, side) {
    for (const layer of layers) {
      for (const item of layer) {
        item.rank = item[side].length ? mean(item[side], one => one.place) : item.place;
      }
      layer.sort((a, b) => a.rank - b.rank || a.place - b.place);
      set_places(layer);
    }
  }

  function crossings(layers) {
    let sum = 0;
    for (const layer of layers) {
      const seen = [];
      for (const item of layer) {
        for (const below of item.down) { sum += seen.filter(place => place > below.place).length; }
        seen.push(...item.down.map(below => below.place));
      }
    }
    return sum;
  }

  function order(layers) {
    layers.forEach(spread);
    let best = layers.map(layer => layer.slice()), least = crossings(layers);
    for (let i = 0; i < SWEEPS && least > 0; i++) {
      sweep(i % 2 ? layers.slice().reverse() : layers, i % 2 ? 'down' : 'up');
      const count = crossings(layers);
      if (count < least) { [best, least] = [layers.map(layer => layer.slice()), count]; }
    }
    best.forEach(set_places);
    return best;
  }

  // }======

  // {====== Positions ======

  /* Sets the x of the middles of a layer as near to the wishes as the widths allow: neighbours that
     are too near become a block, at the mean of what its items wish. */
  function settle(layer, sides) {
    const blocks = [];
    let at = 0;
    layer.forEach((item, i) => {
      const before = layer[i - 1];
      at += i ? (before.w + item.w) / 2 + (before.is_point || item.is_point ? SLIM : SIDE) : 0;
      item.at = at;
      const near = sides.flatMap(side => item[side]);
      const weight = !near.length ? 0.01 : item.is_point ? 3 : 1;
      let block = { items: [item], weight, x: (near.length ? mean(near, one => one.x) : item.x) -
        at };
      while (blocks.length && blocks[blocks.length - 1].x >= block.x) {
        const last = blocks.pop(), sum = last.weight + block.weight;
        block = { items: [...last.items, ...block.items], weight: sum,
          x: (last.x * last.weight + block.x * block.weight) / sum };
      }
      blocks.push(block);
    });
    for (const block of blocks) {
      for (const item of block.items) { item.x = block.x + item.at; }
    }
  }

  function set_positions(layers) {
    let y = 0;
    for (const layer of layers) {
      const height = Math.max(...layer.map(item => item.h));
      for (const item of layer) { Object.assign(item, { x: 0, y, tall: height }); }
      y += height + APART;
    }
    for (const sides of [['up'], ['down'], ['up'], ['down'], ['up'], ['down'], ['up', 'down']]) {
      const list = sides[0] === 'down' ? layers.slice().reverse() : layers;
      for (const layer of list) { settle(layer, sides); }
    }
    const all = layers.flat(), left = Math.min(...all.map(item => item.x - item.w / 2));
    for (const item of all) { item.x -= left; }
    return { width: Math.max(...all.map(item => item.x + item.w / 2)), height: y - APART };
  }

  /* Sets where the links begin (or end) at a box, beside each other in the order of what they lead
     to. */
  function set_ports(links, end, next, port) {
    for (const node of new Set(links.map(link => link[end]))) {
      const list = links.filter(link => link[end] === node);
      list.sort((a, b) => next(a).x - next(b).x).forEach((link, i) => {
        link[port] = node.x + ((i + 1) / (list.length + 1) - 0.5) * node.w * 0.8;
      });
    }
  }

  // }======

  /* Lays out nodes with w, h and size, and arcs with from, to (nodes) and size; at most `wide`
     nodes are in a layer. Nodes get x (of the middle), y (of the top) and layer, arcs `back` if
     they close a cycle, and points [x, y], in the direction of the call; arcs from a node to itself
     get none. Returns width and height. */
  page.lay_out_graph = function (nodes, arcs, wide) {
    const list = arcs.filter(arc => arc.from !== arc.to);
    break_cycles(nodes, list);
    const links = list.map(arc => ({ arc, above: arc.back ? arc.to : arc.from,
      below: arc.back ? arc.from : arc.to }));
    set_layers(nodes, links, wide);
    const size = set_positions(order(layers_of(nodes, links)));
    set_ports(links, 'above', link => link.way[1], 'begin');
    set_ports(links, 'below', link => link.way[link.way.length - 2], 'end');
    for (const { arc, way, above, below, begin, end } of links) {
      arc.points = [[begin, above.y + above.h], ...way.slice(1, -1).flatMap(point =>
        [[point.x, point.y], [point.x, point.y + point.tall]]), [end, below.y]];
      if (arc.back) { arc.points.reverse(); }
    }
    return size;
  };
}(window.page));
