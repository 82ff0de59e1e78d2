# Posthorn as an image: `docker build -t posthorn .` (docs/guides/installing.md).

# The program, compiled as `npm pack` does it, and the console. With optional packages: the bundler has its native binding in one.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY clients/typescript/package.json clients/typescript/
COPY console/package.json console/
RUN npm ci --include=dev --include=optional --no-audit --no-fund
COPY . .
RUN npm run prepack

# What it needs to run, in the versions of the lock file. The image is the Node; the database is elsewhere.
FROM node:24-bookworm-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --workspaces=false --no-audit --no-fund

FROM node:24-bookworm-slim
# of the image's user `node`: files that recipients send are here where no bucket is set, and the secret key where none is given
RUN install -d -o 1000 -g 1000 -m 0700 /data
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=packages /packages/node_modules node_modules
COPY bin bin
COPY --from=build /build/dist dist
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 POSTHORN_DATA_DIR=/data
# by number, so that an orchestrator sees that it is not root
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/posthorn.cjs"]
CMD ["serve"]
