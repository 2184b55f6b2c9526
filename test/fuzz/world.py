"""An installation with everything in it: what the fuzzer's calls are about."""

import time
from hashlib import sha256
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs, urlsplit

import requests

PASSWORD = "a password of the fuzzer"
VERIFIER = "a-verifier-of-the-fuzzer-with-forty-three-characters"
RETURN_ADDRESS = "http://127.0.0.1:9/back"


class World:
    """`ids` has one of each thing that a path may name; `make` makes another, for a call that uses it up."""

    def __init__(self, url, token, link, upstream):
        self.url = url
        self.link = link
        self.upstream = upstream
        self.sample = f"http://sample.localhost:{url.rsplit(':', 1)[1]}/sample/shops"
        self.operator = requests.Session()
        self.operator.headers["authorization"] = f"Bearer {token}"
        self.count = 0
        self.project = self.await_example()
        self.path = f"/v1/projects/{self.project}"
        self.people = {role: self.person(role) for role in ("owner", "viewer")}
        self.spare = self.person("viewer")
        self.key = self.made("/v1/api-keys", self.key_body())
        self.callers = {
            "owner": self.people["owner"]["session"],
            "viewer": self.people["viewer"]["session"],
            "key": requests.Session(),
            "nobody": requests.Session(),
        }
        self.callers["key"].headers["authorization"] = f"Bearer {self.key['secret']}"
        # Definitions are put here: one of chance would delete what the other calls need.
        self.spare_project = self.make("project_id")
        self.client = self.register_client()
        self.ids = self.everything()

    def call(self, method, path, body=None, session=None):
        return (session or self.operator).request(method, self.url + path, json=body, timeout=60)

    def done(self, method, path, body=None, session=None):
        answer = self.call(method, path, body, session)
        if answer.status_code not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def made(self, path, body, session=None):
        return self.done("POST", path, body, session)

    def by_owner(self, path, body):
        return self.made(path, body, self.people["owner"]["session"])

    def until(self, seconds, what, look):
        """What `look` finds, once it finds something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.2)
        raise RuntimeError(f"{what} did not come to be within {seconds} s")

    def unique(self):
        self.count += 1
        return f"thing_{self.count}"

    def await_example(self):
        """The example project is there when its eight queries are deployed and its key is made."""

        def look():
            keys = self.call("GET", "/v1/api-keys").json().get("data", [])
            projects = self.call("GET", "/v1/projects").json().get("data", [])
            return projects[-1]["id"] if keys and projects else None

        return self.until(120, "the example project", look)

    def everything(self):
        first = lambda path: self.call("GET", self.path + path).json()["data"][0]
        objects = self.call("GET", f"{self.path}/data-objects").json()["data"]
        rows = next(each for each in objects if each["kind"] == "response_data")
        alert = self.alert()
        run = self.made(f"{self.path}/evaluations/run", {})
        replay, call = self.replay()
        return {
            "project_id": self.project,
            "environment": "staging",
            "user_id": self.spare["id"],
            "invitation_id": self.make("invitation_id"),
            "datasource_id": rows["datasource_id"],
            "data_object_id": rows["id"],
            "job_id": first("/jobs")["id"],
            "query_name": "sales_by_region",
            "version": 1,
            "variable_id": self.make("variable_id"),
            "evaluation_id": self.make("evaluation_id"),
            "run_id": run["id"],
            "request_id": self.make("request_id"),
            "counter_example_id": self.make("counter_example_id"),
            "alert_id": alert["id"],
            "shared_channel_id": self.make("shared_channel_id"),
            "view_id": self.make("view_id"),
            "channel_id": alert["channels"][0]["id"],
            "key_id": self.make("key_id"),
            "token_id": self.make("token_id"),
            "release_id": self.make("release_id"),
            "model_name": self.make("model_name"),
            "test_name": self.make("test_name"),
            "api_id": self.make("api_id"),
            "link_id": self.make("link_id"),
            "file": self.query_link()["url"].rsplit("/", 1)[1],
            "replay_id": replay,
            "call_id": call,
        }

    def make(self, name):
        """Another of what a parameter names, or nothing where there is only one."""
        maker = getattr(self, f"make_{name}", None)
        return None if maker is None else maker()

    # People and access

    def key_body(self):
        return {
            "name": self.unique(),
            "plan": "unlimited",
            "permissions": [{"project_id": self.project, "environments": "*"}],
        }

    def join_link(self, role="viewer"):
        return self.made(f"{self.path}/invitations", {"role": role})["link"].split("#")[1]

    def person(self, role):
        email = f"{self.unique()}@example.org"
        body = {"token": self.join_link(role), "name": role, "email": email, "password": PASSWORD}
        session = requests.Session()
        answer = self.call("POST", "/v1/invitations/accept", body, session)
        return {"id": answer.json()["user"]["id"], "email": email, "session": session}

    def sign_in(self, role):
        person = self.people[role]
        person["session"].cookies.clear()
        self.call("POST", "/v1/session", {"email": person["email"], "password": PASSWORD}, person["session"])

    def make_user_id(self):
        return self.person("viewer")["id"]

    def make_invitation_id(self):
        return self.made(f"{self.path}/invitations", {"role": "viewer"})["id"]

    def make_key_id(self):
        return self.made("/v1/api-keys", self.key_body())["id"]

    def make_token_id(self):
        return self.by_owner("/v1/management-tokens", {"name": "t", "role": "viewer"})["id"]

    def register_client(self):
        body = {"client_name": self.unique(), "redirect_uris": [RETURN_ADDRESS]}
        return self.made("/oauth/register", body, requests.Session())["client_id"]

    def approval(self):
        digest = sha256(VERIFIER.encode()).digest()
        return {
            "client_id": self.client,
            "redirect_uri": RETURN_ADDRESS,
            "code_challenge": urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "project_id": self.project,
            "environment": "production",
        }

    def code_exchange(self):
        """What a client sends that a person has just let in."""
        back = self.by_owner("/v1/oauth/approvals", self.approval())["redirect_to"]
        return {
            "grant_type": "authorization_code",
            "client_id": self.client,
            "redirect_uri": RETURN_ADDRESS,
            "code": parameter(back, "code"),
            "code_verifier": VERIFIER,
        }

    # Projects and their data

    def make_project_id(self):
        """One of the owner's, whom the operator lets in: a person makes only so many in an hour."""
        project = self.made("/v1/projects", {"name": "Short-lived"})["id"]
        link = self.made(f"/v1/projects/{project}/invitations", {"role": "owner"})["link"]
        self.by_owner("/v1/invitations/accept", {"token": link.split("#")[1]})
        return project

    def make_environment(self):
        return self.made(f"{self.path}/environments", {"name": self.unique()})["name"]

    def make_variable_id(self):
        return self.made(f"{self.path}/variables", {"name": self.unique(), "value": "x"})["id"]

    def datasource(self, **more):
        return self.made(f"{self.path}/datasources", {"name": self.unique(), "kind": "http_api", **more})["id"]

    def make_datasource_id(self):
        return self.datasource(config={"url": self.sample, "method": "GET"})

    def authorized_source(self):
        """A connection that may be connected in a person's name."""
        auth = {
            "authorization_url": f"{self.upstream}/authorize",
            "token_url": f"{self.upstream}/token",
            "client_id": "c",
            "client_secret": "s",
        }
        config = {"url": self.sample, "method": "GET", "authType": "OAuth2 Authorization Code", "auth": auth}
        return self.datasource(config=config)

    def returned(self, source):
        """What the browser comes back with, its person having agreed."""
        begun = self.by_owner(f"{self.path}/datasources/{source}/authorization", None)
        server = urlsplit(begun["redirect_uri"]).path.rsplit("/", 1)[1]
        return {"server": server, "state": parameter(begun["authorization_url"], "state"), "code": "a-code"}

    def connected_source(self):
        source = self.authorized_source()
        self.by_owner("/v1/oauth/return", self.returned(source))
        return source

    def execution(self):
        return {
            "project_id": self.project,
            "datasource_id": self.make_datasource_id(),
            "connect_spec": {"name": "s", "id": "http_api"},
            "url": self.sample,
            "method": "GET",
        }

    def make_data_object_id(self):
        return self.made("/v1/http/execute-request", self.execution())["data_object_id"]

    def make_job_id(self):
        return self.made(f"{self.path}/datasources/{self.make_datasource_id()}/refresh", {})["id"]

    def failed_job(self):
        """A refresh of an address that answers nothing, at its end."""
        source = self.datasource(config={"url": "http://127.0.0.1:1/", "method": "GET"})
        job = self.made(f"{self.path}/datasources/{source}/refresh", {})["id"]
        is_failed = lambda: self.call("GET", f"/v1/jobs/{job}").json()["status"] == "failed"
        self.until(60, "the failure of a refresh", is_failed)
        return job

    # Queries and releases

    def make_query_name(self):
        body = {"name": self.unique(), "sql": "select count(*) as n from orders"}
        return self.made(f"{self.path}/queries", body)["name"]

    def change(self, name, by):
        self.done("PUT", f"{self.path}/queries/{name}", {"sql": f"select count(*) + {by} as n from orders"})

    def deployed(self, versions=1, environment="production"):
        """A query of its own with so many versions, the last of them live."""
        name = self.make_query_name()
        for version in range(versions):
            if version > 0:
                self.change(name, version)
            self.made(f"{self.path}/queries/{name}/deploy", {"environment": environment, "force": True})
        return name

    def release(self, **trial):
        """Of a second version, in an environment of its own: only one release is tried out in each at a time."""
        environment = self.make_environment()
        name = self.deployed(environment=environment)
        self.change(name, 1)
        body = {"environment": environment, "queries": [{"name": name}], "force": True, **trial}
        return self.made(f"{self.path}/releases", body)["id"]

    def make_release_id(self):
        return self.release()

    def environment_with_query(self):
        environment = self.make_environment()
        self.deployed(environment=environment)
        return environment

    def replay(self):
        """A replay with a call that is answered differently, and that call."""
        settings = {"recording": True, "max_calls": 100, "days": 7, "redacted_slots": []}
        self.done("PUT", f"{self.path}/replay-settings", settings)
        name = self.deployed()
        self.change(name, 1)

        def look():
            self.made(f"/v1/queries/{name}", {}, self.callers["key"])
            made = self.made(f"{self.path}/replays", {"queries": [{"name": name}]})
            calls = self.call("GET", f"{self.path}/replays/{made['id']}/calls").json()["data"]
            return (made["id"], calls[0]["id"]) if calls else None

        return self.until(60, "a replay with a call", look)

    def make_model_name(self):
        body = {"name": self.unique(), "sql": "select count(*) as n from orders"}
        return self.made(f"{self.path}/models", body)["name"]

    def row_test(self):
        return {"name": self.unique(), "query": "sales_by_region", "parameters": {"region": "north"}, "expect": []}

    def make_test_name(self):
        return self.done("PUT", f"{self.path}/tests", self.row_test())["name"]

    def make_api_id(self):
        return self.made(f"{self.path}/apis", {"name": self.unique(), "config": {"url": self.sample}})["id"]

    def query_link(self):
        """Of a query of its own: whatever the others are changed to, it answers."""
        self.done("PATCH", self.path, {"query_links": True})
        body = {"query": self.deployed(), "parameters": {}, "expires_at": in_a_day()}
        return self.by_owner(f"{self.path}/query-links", body)

    def make_link_id(self):
        return self.query_link()["id"]

    def shared_reference(self):
        """An environment whose reference is shared, and the token of its link."""
        environment = self.make_environment()
        link = self.done("PUT", f"{self.path}/shared-references/{environment}", {})["link"]
        return environment, link.split("#")[1]

    # Questions and alerts

    def keep_questions(self):
        """A call of chance may have switched it off."""
        settings = {"log": "full", "retention_days": 30, "min_confidence": 0}
        self.done("PUT", f"{self.path}/questions/settings", settings)

    def missed_question(self):
        """A question that nothing answers, as the log has it, and the id of its request."""
        self.keep_questions()
        text = f"who sings {self.unique()} in the opera"
        answer = self.call("POST", "/v1/query", {"query": text, "project_id": self.project}, self.callers["key"])
        return text, answer.headers["x-request-id"]

    def make_request_id(self):
        return self.missed_question()[1]

    def make_counter_example_id(self):
        path = f"{self.path}/questions/{self.make_request_id()}/report"
        return self.made(path, {"expected_query": "sales_by_region"})["id"]

    def make_evaluation_id(self):
        body = {"question": f"Is {self.unique()} there?", "expected_query": None}
        return self.made(f"{self.path}/evaluations", body)["id"]

    def alert(self):
        channels = [{"type": "webhook", "url": self.sample}]
        body = {"name": self.unique(), "type": "requests_above", "threshold": 9, "channels": channels}
        return self.made(f"{self.path}/alerts", body)

    def shared_channel(self):
        return {"name": self.unique(), "channel": {"type": "webhook", "url": self.sample}}

    def make_shared_channel_id(self):
        return self.made(f"{self.path}/alert-channels", self.shared_channel())["id"]

    def make_view_id(self):
        body = {"name": self.unique(), "page": "audit", "filter": {}, "shared": True}
        return self.by_owner(f"{self.path}/views", body)["id"]

    def make_alert_id(self):
        return self.alert()["id"]

    def dictionary(self):
        """What fields of a body may well be, by name. Addresses are never left to chance: nothing else is called."""
        return {
            "url": [self.sample, "http://127.0.0.1:1/", "nonsense"],
            "token_url": [self.sample],
            "project_id": [self.project],
            "datasource_id": [self.ids["datasource_id"]],
            "sql": ["select count(*) as n from orders", "select * from shops where region = $region"],
            "environment": ["production", "staging"],
            "query": ["what are the top 5 coffee products", "sales_by_region"],
            "question": ["revenue in the north"],
            "query_name": ["sales_by_region"],
            "expected_query": ["sales_by_region"],
            "region": ["north"],
            "email": [self.people["owner"]["email"]],
            "password": [PASSWORD],
            "plan": ["pro"],
            "schedule": ["0 * * * *"],
            "schedule_time_zone": ["Europe/Berlin"],
            "time_zone": ["Europe/Berlin"],
            "command": ["curl -H 'a: b' https://example.org/"],
            "expires_at": ["2099-01-01T00:00:00Z"],
            "client_id": [self.client],
            "redirect_uri": [RETURN_ADDRESS],
            "redirect_uris": [RETURN_ADDRESS],
            "origins": ["https://api.example"],
        }


def in_a_day():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))


def parameter(url, name):
    return parse_qs(urlsplit(url).query)[name][0]
