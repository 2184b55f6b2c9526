"""Calls every operation of the OpenAPI document with generated requests, as everybody, and judges every answer.

Zero 500s; every answer has a status, a media type and a shape that the document names; what the document allows is not
refused for its shape, and what it forbids is not accepted. At the end every operation has succeeded at least once.
"""

import argparse
import random
import re
import sys
import time

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

STREAMS = ("/jobs/events", "/requests/events")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
PASSWORD = "a password of the fuzzer"
# What the fuzzer cannot reach: a link is printed to a terminal, and a run of jobs that is over when it looks.
MAY_NEVER_SUCCEED = {"POST /v1/session/link"}
# A refusal of the shape of a request, as opposed to one of what it says.
SHAPE_REFUSED = re.compile(r"The (body|querystring|params|headers) (is|are) not as expected: ")
# What JSON Schema cannot say, by the words of the refusal.
BEYOND_SCHEMAS = (
    # Which fields `auth` has, its `authType` says.
    "authType is required when auth is given",
    "auth.",
    "must be a time zone",
    "needs min, max or both",
)


class World:
    """An installation with everything in it, and the ids of all that."""

    def __init__(self, url, token):
        self.url = url
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
        self.ids = self.everything()

    def call(self, method, path, body=None, session=None):
        return (session or self.operator).request(method, self.url + path, json=body, timeout=30)

    def made(self, path, body):
        answer = self.call("POST", path, body)
        if answer.status_code not in (200, 201):
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text}")
        return answer.json()

    def unique(self):
        self.count += 1
        return f"thing_{self.count}"

    def await_example(self):
        """The example project is there when its eight queries are deployed and its key is made."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            keys = self.call("GET", "/v1/api-keys").json().get("data", [])
            projects = self.call("GET", "/v1/projects").json().get("data", [])
            if keys and projects:
                return projects[-1]["id"]
            time.sleep(0.2)
        raise RuntimeError("the example project did not come to be")

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

    def everything(self):
        first = lambda path: self.call("GET", self.path + path).json()["data"][0]
        objects = self.call("GET", f"{self.path}/data-objects").json()["data"]
        rows = next(each for each in objects if each["kind"] == "response_data")
        alert = self.make("alert_id", whole=True)
        run = self.made(f"{self.path}/evaluations/run", {})
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
            "evaluation_id": self.make("evaluation_id"),
            "run_id": run["id"],
            "alert_id": alert["id"],
            "channel_id": alert["channels"][0]["id"],
            "key_id": self.make("key_id"),
            "token_id": "tok_00000000000000000000000000",
        }

    def make(self, name, whole=False):
        """Something new that a call may use up."""
        sample = f"http://sample.localhost:{self.url.rsplit(':', 1)[1]}/sample/shops"
        if name == "project_id":
            answer = self.call("POST", "/v1/projects", {"name": "Short-lived"}, self.people["owner"]["session"]).json()
        elif name == "environment":
            return self.made(f"{self.path}/environments", {"name": self.unique()})["name"]
        elif name == "user_id":
            return self.person("viewer")["id"]
        elif name == "invitation_id":
            answer = self.made(f"{self.path}/invitations", {"role": "viewer"})
        elif name == "datasource_id":
            config = {"url": sample, "method": "GET"}
            answer = self.made(f"{self.path}/datasources", {"name": self.unique(), "kind": "http_api", "config": config})
        elif name == "job_id":
            answer = self.made(f"{self.path}/datasources/{self.make('datasource_id')}/refresh", {})
        elif name == "query_name":
            return self.made(f"{self.path}/queries", {"name": self.unique(), "sql": "select count(*) as n from orders"})["name"]
        elif name == "evaluation_id":
            answer = self.made(f"{self.path}/evaluations", {"question": f"Is {self.unique()} there?", "expected_query": None})
        elif name == "alert_id":
            channels = [{"type": "webhook", "url": sample}]
            body = {"name": self.unique(), "type": "requests_above", "threshold": 9, "channels": channels}
            answer = self.made(f"{self.path}/alerts", body)
        elif name == "key_id":
            answer = self.made("/v1/api-keys", self.key_body())
        elif name == "token_id":
            body = {"name": "t", "role": "viewer"}
            answer = self.call("POST", "/v1/management-tokens", body, self.people["owner"]["session"]).json()
        elif name == "data_object_id":
            body = {
                "project_id": self.project,
                "datasource_id": self.make("datasource_id"),
                "connect_spec": {"name": "s", "id": "http_api"},
                "url": sample,
                "method": "GET",
            }
            return self.made("/v1/http/execute-request", body)["data_object_id"]
        else:
            return None
        return answer if whole else answer["id"]

    def dictionary(self):
        """What fields of a body may well be, by name. Addresses are never left to chance: nothing else is called."""
        port = self.url.rsplit(":", 1)[1]
        sample = f"http://sample.localhost:{port}/sample/shops"
        return {
            "url": [sample, "http://127.0.0.1:1/", "nonsense"],
            "token_url": [sample],
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
        }


def likely(value, words, chance, name=None):
    """The same value with some of its fields as they would be in life."""
    if isinstance(value, dict):
        return {key: likely(each, words, chance, key) for key, each in value.items()}
    if isinstance(value, list):
        return [likely(each, words, chance, name) for each in value]
    if isinstance(value, str) and name in words and (name in ("url", "token_url") or chance.random() < 0.7):
        return chance.choice(words[name])
    return value


class Fuzzer:
    def __init__(self, world, options):
        self.world = world
        self.options = options
        self.schema = schemathesis.openapi.from_url(f"{world.url}/v1/openapi.json")
        self.successes = {}
        self.failures = {}
        self.calls = 0
        self.deadline = time.monotonic() + options.minutes * 60

    def run(self):
        for found in self.schema.get_all_operations():
            operation = found.ok()
            if self.options.only and self.options.only not in operation.label:
                continue
            self.successes[operation.label] = 0
            self.follow_recipe(operation)
            for caller in self.world.callers:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    if time.monotonic() > self.deadline:
                        print(f"FAILED {operation.label}: not reached within {self.options.minutes} minutes", flush=True)
                        return 1
                    self.fuzz(operation, caller, mode)
        return self.report()

    def follow_recipe(self, operation):
        """A call that succeeds, for what chance would not bring about."""
        recipe = RECIPES.get(operation.label)
        if recipe is None:
            return
        caller, values = recipe(self.world)
        path_parameters = {**self.world.ids, **values.get("path", {})}
        names = re.findall(r"{(\w+)}", operation.path)
        case = operation.Case(
            path_parameters={name: path_parameters[name] for name in names},
            query=values.get("query", {}),
            **({"body": values["body"], "media_type": "application/json"} if "body" in values else {}),
        )
        before = self.successes[operation.label]
        self.send(case, caller, GenerationMode.POSITIVE)
        if self.successes[operation.label] == before:
            self.note(operation.label, caller, "its recipe did not succeed")

    def fuzz(self, operation, caller, mode):
        # Of those who are refused whatever they say, a few are enough.
        many = caller == "owner" or (caller == "key" and operation.path in ("/v1/key", "/v1/query", "/v1/queries/{query_name}"))
        examples = self.options.examples if many else max(2, self.options.examples // 3)
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Exception:
            return  # Nothing about it can be wrong.
        chance = random.Random(f"{self.options.seed} {operation.label} {caller} {mode}")

        @seed(hash_of(self.options.seed, operation.label, caller, mode))
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def judge(case):
            self.judge(case, caller, mode, chance)

        try:
            judge()
        except Exception as error:  # Hypothesis found no such request, or could not make one.
            if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
                self.note(operation.label, caller, f"could not be generated: {type(error).__name__}: {str(error)[:300]}")

    def judge(self, case, caller, mode, chance):
        self.fill(case, caller, mode, chance)
        self.send(case, caller, mode)

    def send(self, case, caller, mode):
        label = case.operation.label
        session = self.world.callers[caller]
        if case.operation.path.endswith(STREAMS):
            with session.get(self.world.url + case.formatted_path, params=case.query, stream=True, timeout=30) as answer:
                if answer.status_code >= 500:
                    self.note(label, caller, f"{answer.status_code}")
                elif answer.status_code == 200:
                    self.successes[label] += 1
            return
        answer = case.call(base_url=self.world.url, session=session, timeout=60)
        self.calls += 1
        if answer.status_code < 300:
            self.successes[label] += 1
            if label == "DELETE /v1/session" or (label.startswith(("POST /v1/session", "POST /v1/invitations/accept"))):
                if caller in self.world.people:
                    self.world.sign_in(caller)
        checks = list(CHECKS)
        # 503 and 504 are promises of the document: busy, and too slow an external API.
        if answer.status_code in (502, 503, 504):
            checks.remove(not_a_server_error)
        try:
            case.validate_response(answer, checks=checks)
        except (Exception, BaseExceptionGroup) as error:
            self.note(label, caller, f"{answer.status_code}: {first_line(error)} | {describe(case)} → {answer.text[:300]}")
        if mode == GenerationMode.POSITIVE and answer.status_code == 400:
            message = answer.json().get("message", "")
            if SHAPE_REFUSED.match(message) and not any(rule in message for rule in BEYOND_SCHEMAS):
                self.note(label, caller, f"the document allows it, the server does not: {message[:300]} | {describe(case)}")

    def fill(self, case, caller, mode, chance):
        """Real ids where there are any, and something new where the call would use it up."""
        names = re.findall(r"{(\w+)}", case.operation.path)
        for at, name in enumerate(names):
            if mode == GenerationMode.NEGATIVE and chance.random() < 0.3:
                continue
            known = self.world.ids.get(name)
            is_last = at == len(names) - 1
            if is_last and caller == "owner" and uses_up(case.operation.label):
                known = self.world.make(name) or known
            if known is not None:
                case.path_parameters[name] = known
        # Without the region every call of the example query would lack something.
        if case.operation.label == "POST /v1/queries/{query_name}" and mode == GenerationMode.POSITIVE:
            case.body = {"region": "north"}
        if case.operation.label == "POST /v1/invitations/read" or case.operation.label == "POST /v1/invitations/accept":
            if mode == GenerationMode.POSITIVE and isinstance(case.body, dict):
                case.body = {**case.body, "token": self.world.join_link()}
        if isinstance(case.body, (dict, list)):
            case.body = likely(case.body, self.world.dictionary(), chance)
            if case.operation.label == "POST /v1/invitations/accept" and "email" in case.body:
                case.body["email"] = f"{self.world.unique()}@example.org"
        if case.operation.label == "PATCH /v1/session/user" and isinstance(case.body, dict):
            # The fuzzer would lock itself out.
            for name in ("email", "password"):
                case.body.pop(name, None)

    def note(self, label, caller, text):
        key = (label, text.split(" | ")[0][:160])
        if key not in self.failures:
            self.failures[key] = text
            print(f"FAILED {label} as {caller}: {text}\n", flush=True)

    def report(self):
        silent = [label for label, count in self.successes.items() if count == 0 and label not in MAY_NEVER_SUCCEED]
        for label in silent:
            print(f"FAILED {label}: no call succeeded, so no answer of its own was seen")
        succeeded = sum(1 for count in self.successes.values() if count > 0)
        print(f"seed {self.options.seed}: {self.calls} calls of {len(self.successes)} operations, {succeeded} answered")
        print(f"{len(self.failures) + len(silent)} failed")
        return 1 if self.failures or silent else 0


def project(**values):
    return lambda world: ("owner", {key: value(world) if callable(value) else value for key, value in values.items()})


def deployed(world, versions=1):
    """A query of its own with so many versions, the last of them live."""
    name = world.make("query_name")
    path = f"{world.path}/queries/{name}"
    for version in range(versions):
        if version > 0:
            answer = world.call("PUT", path, {"sql": f"select count(*) + {version} as n from orders"})
            if answer.status_code != 200:
                raise RuntimeError(f"PUT {path}: {answer.status_code} {answer.text}")
        world.made(f"{path}/deploy", {"environment": "production", "force": True})
    return name


def failed_job(world):
    """A refresh of an address that answers nothing, at its end."""
    config = {"url": "http://127.0.0.1:1/", "method": "GET"}
    made = world.made(f"{world.path}/datasources", {"name": world.unique(), "kind": "http_api", "config": config})
    job = world.made(f"{world.path}/datasources/{made['id']}/refresh", {})["id"]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if world.call("GET", f"/v1/jobs/{job}").json()["status"] == "failed":
            return job
        time.sleep(0.2)
    raise RuntimeError("the refresh did not fail")


def missed_question(world):
    """A question that nothing answers, as the log has it."""
    text = f"who sings {world.unique()} in the opera"
    world.call("POST", "/v1/query", {"query": text, "project_id": world.project}, world.callers["key"])
    return text


RECIPES = {
    "GET /v1/queries/{query_name}": lambda world: ("key", {"query": {"region": "north"}}),
    "POST /v1/query": lambda world: (
        "key",
        {"body": {"query": "what are the top 5 coffee products", "project_id": world.project}},
    ),
    "POST /v1/http/execute-request": project(
        body=lambda world: {
            "project_id": world.project,
            "datasource_id": world.make("datasource_id"),
            "connect_spec": {"name": "s", "id": "http_api"},
            "url": world.dictionary()["url"][0],
            "method": "GET",
        }
    ),
    "POST /v1/jobs/{job_id}/retry": project(path=lambda world: {"job_id": failed_job(world)}),
    "POST /v1/projects/{project_id}/queries/{query_name}/preview": project(body={"parameters": {"region": "north"}}),
    "POST /v1/projects/{project_id}/queries/{query_name}/explain": project(body={"parameters": {"region": "north"}}),
    "POST /v1/projects/{project_id}/queries/{query_name}/rollback": project(
        path=lambda world: {"query_name": deployed(world, versions=2)}, body={"environment": "production"}
    ),
    "POST /v1/projects/{project_id}/queries/{query_name}/undeploy": project(
        path=lambda world: {"query_name": deployed(world)}, body={"environment": "production"}
    ),
    "GET /v1/projects/{project_id}/queries/{query_name}/diff": project(query={"from": 1}),
    "POST /v1/projects/{project_id}/questions/resolve": project(
        body=lambda world: {"questions": [missed_question(world)], "as": "dismissed"}
    ),
    "PUT /v1/projects/{project_id}/evaluations/{evaluation_id}": project(
        path=lambda world: {"evaluation_id": world.make("evaluation_id")},
        body=lambda world: {"question": f"Is {world.unique()} there?", "expected_query": None},
    ),
    "POST /v1/projects/{project_id}/alerts/{alert_id}/channels/{channel_id}/rotate": project(body={}),
    "POST /v1/projects/{project_id}/queries/{query_name}/promote": project(
        path=lambda world: {"query_name": deployed(world)}, body={"from": "production", "to": "staging", "force": True}
    ),
    "POST /v1/api-keys": project(
        body=lambda world: {"name": "k", "permissions": [{"project_id": world.project, "environments": "*"}]}
    ),
    "GET /v1/audit": project(query=lambda world: {"project_id": world.project}),
}


def uses_up(label):
    acts = ("/cancel", "/retry", "/rotate", "/disable", "/undeploy")
    return label.startswith("DELETE ") or (label.startswith("POST ") and label.endswith(acts))


def hash_of(*parts):
    return random.Random(" ".join(map(str, parts))).getrandbits(32)


def first_line(error):
    texts = [str(each) for each in getattr(error, "exceptions", [error])]
    return " ".join(" ".join(texts).split())[:300]


def describe(case):
    return f"{case.method} {case.formatted_path} query={case.query!r} body={str(case.body)[:300]!r}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--examples", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--only")
    options = parser.parse_args()
    sys.exit(Fuzzer(World(options.url, options.token), options).run())
