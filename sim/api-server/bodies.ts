import { applyJsonPatch, PatchFailure, type PatchOperation } from './json-patch.ts'
import { applyMergePatch, applyStrategicMergePatch } from './merge-patch.ts'
import { badRequest, type Refusal, refusal, unprocessable } from './refusal.ts'
import type { ApiRequest, KubeObject } from './server.ts'

const LARGEST_BODY = 3 * 1024 * 1024
const MOST_OPERATIONS = 10_000
const BODIES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json'

function contentTypeOf({ headers }: ApiRequest): string {
  return (headers['content-type'] ?? 'application/json').split(';', 1)[0]!.trim()
}

/** Returns the object in the body of a request. `kind` is the expected kind. @throws Refusal 400, 413, 415 */
export function objectIn(request: ApiRequest, kind: string): Record<string, unknown> {
  if (contentTypeOf(request) !== 'application/json') {
    const message = `the body of the request was in an unknown format - accepted media types include: ${BODIES.join(', ')}`
    throw refusal(415, 'UnsupportedMediaType', message)
  }
  const refused = (why: string): Refusal =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why}`,
    )
  const body = parsed(request.body ?? '', refused)
  if (!isMap(body)) throw refused('it is no object')
  return body
}

function parsed(body: string, refused: (why: string) => Refusal): unknown {
  if (Buffer.byteLength(body) > LARGEST_BODY) throw tooLarge(`limit is ${LARGEST_BODY}`)
  try {
    return JSON.parse(body)
  } catch (error) {
    throw refused(String(error))
  }
}

function tooLarge(why: string): Refusal {
  return refusal(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`)
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the object after the patch of a request. @throws Refusal 400, 413, 415, 422 */
export function patched(request: ApiRequest, before: KubeObject): KubeObject {
  const type = contentTypeOf(request)
  if (type !== JSON_PATCH && type !== MERGE_PATCH && type !== STRATEGIC_MERGE_PATCH) {
    throw refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  }
  const undecodable = (why: string): Refusal => badRequest(`error decoding patch: ${why}`)
  const patch = parsed(request.body ?? '', undecodable)
  if (type === JSON_PATCH) {
    if (!Array.isArray(patch)) throw undecodable('it is no list')
    return withOperations(comparable(patch as PatchOperation[], request.body ?? ''), before)
  }
  if (!isMap(patch)) throw undecodable('it is no object')
  return (type === MERGE_PATCH ? applyMergePatch(before, patch) : applyStrategicMergePatch(before, patch)) as KubeObject
}

const UNESCAPED = /[<>&\u2028\u2029]/

/** A value that differs from every stored value. */
const UNLIKE_ANY = Symbol('sent otherwise than it is stored')

/** Marks texts that were not sent as Go writes them: a real API server does not take them for the stored text (recorded). */
function comparable(operations: readonly PatchOperation[], body: string): readonly PatchOperation[] {
  if (!UNESCAPED.test(body)) return operations
  const marked = JSON.parse(body, (_key, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'string' && source !== undefined && UNESCAPED.test(source) ? UNLIKE_ANY : value,
  ) as PatchOperation[]
  return operations.map((operation, index) =>
    operation.op === 'test' ? { ...operation, value: marked[index]?.value } : operation,
  )
}

function withOperations(operations: readonly PatchOperation[], before: KubeObject): KubeObject {
  if (operations.length > MOST_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${operations.length}`)
  }
  try {
    return applyJsonPatch(before, operations) as KubeObject
  } catch (error) {
    throw error instanceof PatchFailure ? unprocessable() : error
  }
}
