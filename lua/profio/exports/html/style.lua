-- The style sheet of the report, with light and dark colours.

return [[
:root{color-scheme:light dark;--page:#fff;--text:#1c1e21;--soft:#5c6370;--line:#e3e5e8;
--card:#f6f7f8;--bar:#f6c79a;--less:#b9c8f5;--warn:#8a4b00;--accent:#b4480f}
@media (prefers-color-scheme:dark){
:root{--page:#16181c;--text:#e4e6ea;--soft:#9aa1ad;--line:#2c3037;--card:#1e2126;--bar:#6b3d17;
--less:#2c3e7a;--warn:#f0b46a;--accent:#f08a4b}
}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1264px;padding:28px 32px 64px;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:22px;font-weight:600;margin:0;overflow-wrap:anywhere}
h2{font-size:16px;font-weight:600;margin:40px 0 12px}
.sub,.note{color:var(--soft);margin:2px 0 0}
.note{font-size:13px;margin:8px 0 0}
nav{margin:14px 0 0;display:flex;gap:18px;font-size:14px}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
dl{display:flex;flex-wrap:wrap;gap:10px 36px;margin:0;padding:12px 16px;background:var(--card);
border-radius:6px}
dt{color:var(--soft);font-size:12px}
dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.warnings{margin:14px 0 0;padding:10px 14px 10px 32px;background:var(--card);border-radius:6px}
.warnings .damage{color:var(--warn)}
code,.code,td.name,td.place{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
.tools{display:flex;gap:10px;align-items:center;margin:0 0 10px;flex-wrap:wrap}
input,button{font:inherit;font-size:14px;color:inherit;background:var(--page);
border:1px solid var(--line);border-radius:5px;padding:4px 10px}
input{width:280px}
button{cursor:pointer}
button:hover{background:var(--card)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-weight:600;font-size:13px;text-align:right;border-bottom:1px solid var(--line);padding:0}
th button{border:0;width:100%;text-align:inherit;font-weight:inherit;font-size:inherit;
background:none;padding:5px 10px;white-space:nowrap}
th.l,td.l{text-align:left}
th[aria-sort=ascending] button::after{content:" \2191"}
th[aria-sort=descending] button::after{content:" \2193"}
td{padding:3px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
td.name,td.place{max-width:460px;overflow:hidden;text-overflow:ellipsis}
td.place{color:var(--soft);max-width:240px}
tbody tr:hover{background:var(--card)}
.bar{background:linear-gradient(var(--bar),var(--bar)) no-repeat right/var(--w) 100%}
.bar.less{background-image:linear-gradient(var(--less),var(--less))}
.flames{display:block;max-width:100%;height:auto}
canvas{display:block;width:100%;cursor:crosshair}
.tip{position:fixed;pointer-events:none;display:none;max-width:480px;background:var(--text);
color:var(--page);border-radius:5px;padding:5px 9px;font-size:13px;overflow-wrap:anywhere}
h3{font:600 13px ui-monospace,Menlo,Consolas,monospace;margin:20px 0 4px;overflow-wrap:anywhere}
.code td{border:0;padding:0 10px;line-height:1.55}
.code td.source{text-align:left;width:100%;white-space:pre}
.code td.number{color:var(--soft)}
.code tr.gap td{color:var(--soft);text-align:left}
]]
