# One image, its sub-commands: docker run holdfast serve | migrate | doctor | …
ARG NODE_IMAGE=node:22.20.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# SQLite's driver is compiled where no prebuilt one can be fetched.
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
COPY . .
RUN npm ci --no-audit --no-fund && npm run build && npm prune --omit=dev

FROM ${NODE_IMAGE}
WORKDIR /app
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=64
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# A ledger in a file, where one is used, is kept in a volume.
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8787
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HOLDFAST_PORT??8787}/livez`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["serve"]
