"""answering.py PORT [FILE...]: a server that sends the bytes of a file as they are to each
connection, of the first file to the first one and so on (the last one stays), once the request
has arrived, and closes it. Without files it never answers. It ends when its input ends."""

import os
import re
import socket
import sys
import threading


def serve(listener, files):
    while True:
        connection, _ = listener.accept()
        request = b""
        while b"\r\n\r\n" not in request:
            more = connection.recv(65536)
            if not more:
                break
            request += more
        head, _, body = request.partition(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: *(\d+)", head)
        while size and len(body) < int(size.group(1)):
            body += connection.recv(65536)
        with open(files[0], "rb") as answer:
            connection.sendall(answer.read())
        connection.shutdown(socket.SHUT_WR)
        connection.close()
        del files[: len(files) > 1]


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(8)
if len(sys.argv) > 2:
    threading.Thread(target=serve, args=(listener, sys.argv[2:]), daemon=True).start()
print("listening", flush=True)
sys.stdin.read()
os._exit(0)
