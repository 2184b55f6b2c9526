"""An authorization server as far as this service sees one: it gives tokens for whatever code it is sent."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TokenEndpoint(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        tokens = {"access_token": "an-access-token", "refresh_token": "a-refresh-token", "expires_in": 3600}
        body = json.dumps({**tokens, "token_type": "Bearer"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def open_token_endpoint(port):
    """Its address. It ends with the process."""
    server = ThreadingHTTPServer(("127.0.0.1", port), TokenEndpoint)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{port}"
