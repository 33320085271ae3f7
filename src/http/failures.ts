import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../domain/fault.ts";
import { ValueError } from "../domain/values.ts";
import { sendProblem } from "./answers.ts";
import type { ProblemCode } from "./contract.ts";
import { InputError, KeyMissingError } from "./input.ts";
import type { Problem } from "./problem.ts";
import { problemOfFault } from "./problem.ts";
import { JsonError } from "./safe-json.ts";
import { fieldErrors } from "./validation-errors.ts";

/** Where failures that nobody expected are told; the answer says nothing of them. */
export type FailureLog = (error: unknown, request: { id: string; route: string }) => void;

/** A compressed body: nobody knows how large it is before it is unpacked. */
export class EncodedBodyError extends Error {
  override readonly name = "EncodedBodyError";
}

/** Every thrown thing becomes a problem; a stack trace is never part of an answer. */
export function answerFailures(app: FastifyInstance, log: FailureLog): void {
  app.setErrorHandler((error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const problem = problemOf(error);
    if (problem.code === "INTERNAL") {
      log(error, { id: request.id, route: request.routeOptions.url ?? "" });
    }
    return sendProblem(request, reply, problem);
  });
}

export function problemOf(error: FastifyError | Error): Problem {
  if (error instanceof Fault) return problemOfFault(error);
  if (error instanceof InputError) return invalid(error.message, error.errors);
  if (error instanceof KeyMissingError) {
    return { code: "KEY_MISSING", detail: `${error.message}: see /docs/problems#KEY_MISSING` };
  }
  if (error instanceof JsonError) {
    const { pointer, message } = error;
    return invalid(message, [{ in: "body", pointer, message }]);
  }
  if (error instanceof EncodedBodyError) {
    return { code: "UNSUPPORTED_MEDIA_TYPE", detail: "expected a body without Content-Encoding" };
  }
  if (error instanceof ValueError) return invalid(error.message, []);
  if ("validation" in error && error.validation !== undefined) {
    const errors = fieldErrors(error.validation, error.validationContext);
    return invalid(`${errors.length} field(s) of the request are not valid`, errors);
  }
  const known = "code" in error ? frameworkCodes[error.code] : undefined;
  return known === undefined
    ? { code: "INTERNAL", detail: "the failure was noted under this request id" }
    : { code: known.code, detail: known.detail };
}

function invalid(detail: string, errors: NonNullable<Problem["errors"]>): Problem {
  return { code: "INVALID", detail, errors };
}

type Known = { readonly code: ProblemCode; readonly detail: string };

const badBody = { code: "INVALID", detail: "the body is not as long as Content-Length" } as const;

const frameworkCodes: Readonly<Record<string, Known>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: "TOO_LARGE",
    detail: "a body has at most 128 KB, a batch of reservations 512 KB",
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: "UNSUPPORTED_MEDIA_TYPE",
    detail: "expected Content-Type: application/json",
  },
  FST_ERR_CTP_EMPTY_TYPE: {
    code: "UNSUPPORTED_MEDIA_TYPE",
    detail: "expected Content-Type: application/json",
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: badBody,
  ECONNRESET: badBody,
  FST_ERR_BAD_URL: { code: "INVALID", detail: "the path is not a valid URL" },
  FST_ERR_NOT_FOUND: { code: "NOT_FOUND", detail: "there is no such path" },
};
