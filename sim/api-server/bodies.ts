import { applyJsonPatch, PatchFailure, type PatchOperation } from './json-patch.ts'
import { applyMergePatch, applyStrategicMergePatch } from './merge-patch.ts'
import { badRequest, Refusal, unprocessable } from './refusal.ts'
import type { ApiRequest, KubeObject } from './server.ts'

const LARGEST_BODY = 3 * 1024 * 1024
const MOST_OPERATIONS = 10_000
const PATCHES = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json']

export function contentTypeOf({ headers }: ApiRequest): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]!.trim()
}

function unsupported(supported: readonly string[]): Refusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`
  return new Refusal(415, 'UnsupportedMediaType', message, {})
}

/** @throws Refusal 400, 413, 415 */
export function parsedBody(request: ApiRequest): unknown {
  const type = contentTypeOf(request)
  if (type !== '' && type !== 'application/json') throw unsupported(['application/json'])
  return parsed(request.body ?? '')
}

function parsed(body: string): unknown {
  if (Buffer.byteLength(body) > LARGEST_BODY) {
    throw new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LARGEST_BODY}`)
  }
  try {
    return JSON.parse(body)
  } catch (error) {
    throw badRequest(`the object provided is unrecognized (must be of type JSON): ${String(error)}`)
  }
}

/** What the patch of a request makes of an object. @throws Refusal 400, 413, 415, 422 */
export function patched(request: ApiRequest, before: KubeObject): KubeObject {
  const type = contentTypeOf(request)
  if (!PATCHES.includes(type)) throw unsupported(PATCHES)
  const patch = parsed(request.body ?? '')
  if (type !== PATCHES[0]) {
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) throw badRequest('the patch is no map')
    return (type === PATCHES[1] ? applyMergePatch(before, patch) : applyStrategicMergePatch(before, patch)) as KubeObject
  }
  if (!Array.isArray(patch)) throw badRequest('the patch is no list')
  if (patch.length > MOST_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`
    throw new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
  }
  try {
    return applyJsonPatch(before, patch as PatchOperation[]) as KubeObject
  } catch (error) {
    throw error instanceof PatchFailure ? unprocessable() : error
  }
}
