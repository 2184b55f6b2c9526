"""Servers that check how a call is signed: moto for AWS, Flask-HTTPAuth for digest, PyJWT for tokens.

`python signed_server.py PORT PUBLIC_KEY` serves AWS on /, and the others under /checks.
"""

import hmac
import secrets
import sys
import time

import jwt
from flask import Flask, Response, jsonify, request
from flask_httpauth import HTTPDigestAuth
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.serving import run_simple

port, public_key = int(sys.argv[1]), open(sys.argv[2]).read()

checks = Flask(__name__)
checks.config["SECRET_KEY"] = "of a server that answers on loopback for minutes"
rows = [{"id": 1, "name": "Brake"}, {"id": 2, "name": "Bell"}]

digest = HTTPDigestAuth(algorithm="MD5", qop="auth")


nonces: set[str] = set()


# Unless told otherwise it keeps them in a cookie, which is no part of digest.
@digest.generate_nonce
def nonce() -> str:
    value = secrets.token_hex()
    nonces.add(value)
    return value


@digest.verify_nonce
def verify_nonce(value: str) -> bool:
    return value in nonces


@digest.generate_opaque
def opaque() -> str:
    return "opaque"


@digest.verify_opaque
def verify_opaque(value: str) -> bool:
    return value == "opaque"


@digest.get_password
def password_of(name: str) -> str | None:
    return {"operator": "pass, \"word\""}.get(name)


@checks.get("/digest")
@digest.login_required
def by_digest() -> Response:
    return jsonify(rows)


@checks.post("/token")
def token() -> Response:
    if request.form["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer":
        return Response('{"error": "unsupported_grant_type"}', 400)
    claims = jwt.decode(request.form["assertion"], public_key, algorithms=["ES256"], audience=request.base_url)
    return jsonify(access_token=f"of {claims['iss']} to {claims['scope']}".replace(" ", "-"), expires_in=60)


@checks.get("/token-rows")
def by_token() -> Response:
    known = request.headers.get("Authorization") == "Bearer of-loader-to-read"
    return jsonify(rows) if known else Response("{}", 401)


@checks.errorhandler(jwt.PyJWTError)
def refused(error: jwt.PyJWTError) -> Response:
    return Response('{"error": "invalid_grant"}', 400)


@checks.get("/hmac")
def by_hmac() -> Response:
    at = request.headers["X-Time"]
    text = f"{at}\n{request.method}\n{request.script_root}{request.full_path.rstrip('?')}\n"
    expected = hmac.new(b"a key of theirs", text.encode(), "sha256").hexdigest()
    good = abs(time.time() - int(at)) < 60 and hmac.compare_digest(expected, request.headers["X-Sign"])
    return jsonify(rows) if good else Response("{}", 401)


aws = DomainDispatcherApplication(create_backend_app)
run_simple("127.0.0.1", port, DispatcherMiddleware(aws, {"/checks": checks}), threaded=True)
