"""A blog that speaks JSON:API as its package for Django writes it: pages by links, authors and tags among what is included.

`python jsonapi_blog.py PORT` serves 25 articles of three authors, ten a page.
"""

import os
import sys
import types

from django.conf import settings

port = int(sys.argv[1])

# Relations are found from both ends only between models of an app that is installed.
blog = types.ModuleType("blog")
blog.__path__ = [os.path.dirname(os.path.abspath(__file__))]
sys.modules["blog"] = blog

settings.configure(
    DEBUG=False,
    SECRET_KEY="of a server that answers on loopback for minutes",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "rest_framework_json_api", "blog"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:blog?mode=memory&cache=shared"}},
    REST_FRAMEWORK={
        "PAGE_SIZE": 10,
        "DEFAULT_PAGINATION_CLASS": "rest_framework_json_api.pagination.JsonApiPageNumberPagination",
        "DEFAULT_RENDERER_CLASSES": ["rest_framework_json_api.renderers.JSONRenderer"],
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
    },
)

import django

django.setup()

from django.core.management import call_command
from django.db import connection, models
from django.urls import path
from rest_framework_json_api import serializers, views


class Author(models.Model):
    name = models.TextField()

    class Meta:
        app_label = "blog"


class Tag(models.Model):
    word = models.TextField()

    class Meta:
        app_label = "blog"


class Article(models.Model):
    title = models.TextField()
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    tags = models.ManyToManyField(Tag)

    class Meta:
        app_label = "blog"


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ["name"]


class TagSerializer(serializers.ModelSerializer):
    class Meta:
        model = Tag
        fields = ["word"]


class ArticleSerializer(serializers.ModelSerializer):
    included_serializers = {"author": AuthorSerializer, "tags": TagSerializer}

    class Meta:
        model = Article
        fields = ["title", "author", "tags"]

    class JSONAPIMeta:
        included_resources = ["author", "tags"]


class Articles(views.ModelViewSet):
    queryset = Article.objects.order_by("id")
    serializer_class = ArticleSerializer


urlpatterns = [path("articles", Articles.as_view({"get": "list"}))]


def prepare() -> None:
    call_command("migrate", verbosity=0, run_syncdb=False)
    with connection.schema_editor() as editor:
        for model in [Author, Tag, Article]:
            editor.create_model(model)
    authors = [Author.objects.create(name=name) for name in ["Ada", "Ben", "Cleo"]]
    tags = [Tag.objects.create(word=word) for word in ["bikes", "trains"]]
    for number in range(25):
        article = Article.objects.create(title=f"Article {number}", author=authors[number % 3])
        article.tags.set(tags[: number % 3])


if __name__ == "__main__":
    prepare()
    call_command("runserver", f"127.0.0.1:{port}", use_reloader=False, use_threading=False, verbosity=1)
