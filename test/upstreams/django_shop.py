"""A shop of the kind that is connected most: Django REST framework, tokens by OAuth2, pages by link.

`python django_shop.py FOLDER PORT CLIENT_ID CLIENT_SECRET REDIRECT_URI` serves what FOLDER/shop.db holds. With SHOP_WITHOUT=amount
in the environment it is the next release of the same API, which no longer tells the amount.
"""

import os
import sys
from pathlib import Path

from django.conf import settings

folder, port, client_id, client_secret, redirect_uri = sys.argv[1:6]
without = set(filter(None, os.environ.get("SHOP_WITHOUT", "").split(",")))

settings.configure(
    DEBUG=False,
    SECRET_KEY="of a server that answers on loopback for minutes",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "oauth2_provider",
        "rest_framework",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    LOGIN_URL="/sign-in/",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(Path(folder) / "shop.db")}},
    OAUTH2_PROVIDER={
        "ACCESS_TOKEN_EXPIRE_SECONDS": 60,
        "SCOPES": {"read": "Read the shop"},
        "PKCE_REQUIRED": True,
        "ROTATE_REFRESH_TOKEN": True,
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
    },
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["oauth2_provider.contrib.rest_framework.OAuth2Authentication"],
        "DEFAULT_PERMISSION_CLASSES": ["oauth2_provider.contrib.rest_framework.TokenHasScope"],
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "PAGE_SIZE": 200,
    },
)

import django

django.setup()

from django.contrib.auth import get_user_model, login
from django.core.management import call_command
from django.db import connection, models
from django.shortcuts import redirect
from django.urls import include, path
from oauth2_provider.models import Application
from rest_framework import generics, serializers


class Order(models.Model):
    id = models.BigIntegerField(primary_key=True)
    customer = models.TextField()
    amount = models.IntegerField()
    updated_at = models.DateTimeField()

    class Meta:
        app_label = "shop"
        db_table = "orders"


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = [name for name in ["id", "customer", "amount", "updated_at"] if name not in without]


class Orders(generics.ListAPIView):
    required_scopes = ["read"]
    serializer_class = OrderSerializer

    def get_queryset(self):
        orders = Order.objects.order_by("updated_at", "id")
        since = self.request.query_params.get("updated_since")
        return orders if since is None else orders.filter(updated_at__gte=since)


def sign_in(request):
    """Whoever comes is the one person that this shop knows."""
    login(request, get_user_model().objects.get(username="ada"))
    return redirect(request.GET["next"])


urlpatterns = [
    path("sign-in/", sign_in),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("orders/", Orders.as_view()),
]


def prepare() -> None:
    call_command("migrate", verbosity=0)
    if "orders" not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(Order)
    Application.objects.get_or_create(
        client_id=client_id,
        defaults={
            "name": "Sluice",
            "client_type": Application.CLIENT_CONFIDENTIAL,
            "authorization_grant_type": Application.GRANT_CLIENT_CREDENTIALS,
            "client_secret": client_secret,
        },
    )
    get_user_model().objects.get_or_create(username="ada")
    # Agreed to once and for all, so that no form has to be filled in; the redirect address comes as the fifth argument.
    Application.objects.update_or_create(
        client_id=f"{client_id}-people",
        defaults={
            "name": "Sluice for people",
            "client_type": Application.CLIENT_CONFIDENTIAL,
            "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
            "client_secret": client_secret,
            "redirect_uris": redirect_uri,
            "skip_authorization": True,
        },
    )


if __name__ == "__main__":
    prepare()
    call_command("runserver", f"127.0.0.1:{port}", use_reloader=False, verbosity=1)
