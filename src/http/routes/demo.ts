import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { sendProblem } from "../answers.ts";
import { DemoRushBody, DemoRushRequest } from "../console-contract.ts";
import { NoQuery } from "../queries.ts";
import { allowNoBody, type RouteDeps } from "../route.ts";

const usual = { stock: 200, buyers: 2_000 };

/** A rush from the page, so that a newcomer sees it move; there in `holdfast dev` alone. */
export function demoRoute(app: FastifyInstance, { demo }: RouteDeps): void {
  app.post<{ Body: Static<typeof DemoRushRequest> }>(
    "/v1/demo/rush",
    {
      schema: {
        operationId: "startRush",
        summary: "In `dev` alone: opens a sale and lets a crowd rush it; watch its events",
        tags: ["session"],
        querystring: NoQuery,
        body: DemoRushRequest,
        response: { 202: DemoRushBody },
      },
      config: { problems: ["NOT_FOUND", "BUSY"] },
      preValidation: allowNoBody,
    },
    async (request, reply) => {
      if (demo === null) {
        const detail = "rushes are started in holdfast dev alone";
        return sendProblem(request, reply, { code: "NOT_FOUND", detail });
      }
      const { stock = usual.stock, buyers = usual.buyers } = request.body;
      const started = await demo.start({ stock, buyers });
      if (started === null) {
        const detail = "a rush is on already: one at a time";
        return sendProblem(request, reply, { code: "BUSY", detail });
      }
      reply.header("location", `/v1/sales/${started.saleId}`);
      return reply.code(202).send({ ...started, stock, buyers });
    },
  );
}
