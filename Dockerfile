# syntax=docker/dockerfile:1
# The service as an image: its package, what the lockfile names for it, Node, and nothing else.
#
#   docker build -t sluice .
#   docker run --read-only --tmpfs /tmp -v sluice:/var/lib/sluice -p 127.0.0.1:4400:4400 sluice
#
# Where packages come from a registry of your own: --secret id=npmrc,src=$HOME/.npmrc
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# First what seldom changes, so that a change of the sources installs nothing again.
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm ci --ignore-scripts --no-audit --no-fund --prefer-offline
COPY . .
RUN node scripts/build-package.mjs /opt/sluice
WORKDIR /opt/sluice
# With its lockfile, so that an image of today and one of next year hold the same.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm ci --ignore-scripts --no-audit --no-fund --prefer-offline

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="HTTP APIs flow in as data; questions and calls flow out as answers." \
      org.opencontainers.image.licenses="UNLICENSED"
# A user with a name: PostgreSQL's initdb looks it up. The data folder is its own also in a new volume.
RUN groupadd --system --gid 10001 sluice \
    && useradd --system --uid 10001 --gid sluice --home-dir /var/lib/sluice --shell /usr/sbin/nologin sluice \
    && install --directory --owner=sluice --group=sluice --mode=0711 /var/lib/sluice \
    && ln -s /opt/sluice/dist/cli/main.mjs /usr/local/bin/sluice
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /opt/sluice /opt/sluice
# XDG_CACHE_HOME: compiled modules. With a read-only root, /tmp is the one other place that is written to.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4400 \
    SLUICE_DATA_DIR=/var/lib/sluice \
    XDG_CACHE_HOME=/tmp
WORKDIR /var/lib/sluice
USER 10001:10001
VOLUME /var/lib/sluice
EXPOSE 4400
# It finishes the calls in flight, then ends its executors and its database: give it 40 seconds (--stop-timeout 40).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s --retries=4 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["sluice"]
CMD ["start", "--service"]
