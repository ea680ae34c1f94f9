import { badRequest, expired, type Refusal, refusal } from './refusal.ts'
import type { Route } from './route.ts'
import { selection } from './selection.ts'
import type { Storage, Version } from './storage.ts'
import { textOf } from './storage.ts'

interface Page {
  /** The version of all pages. */
  revision: number
  /** The position at which the last page ended. */
  after: string
}

/** The revision in a token that continues from a name at the present version. */
const INCONSISTENT = -1

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** Returns the text of a list, or of one page of it. @throws Refusal 400, 410, 504 */
export function listText(at: Route, storage: Storage): string {
  const { kind, namespace, query } = at
  const page = query.get('continue') ? pageOf(query.get('continue')!) : undefined
  const isInconsistent = page?.revision === INCONSISTENT
  const revision = (isInconsistent ? undefined : page?.revision) ?? exactRevision(query, storage.revision()) ?? storage.revision()
  const versions = storage.list(kind, namespace, revision)
  if (versions === undefined) {
    if (page === undefined) throw expired(`The resourceVersion for the provided list is too old.`)
    throw expired(TOO_OLD, { continue: continueFrom({ revision: INCONSISTENT, after: page.after }) })
  }
  const selects = selection(kind, query)
  const limit = Number(query.get('limit') ?? 0)
  const items: Version[] = []
  let more: Version | undefined
  let remaining = 0
  for (const version of versions) {
    if (page !== undefined && position(version, at) <= page.after) continue
    if (selects !== undefined && !selects(version.object)) continue
    if (limit > 0 && items.length === limit) {
      more ??= items.at(-1)
      remaining += 1
    } else {
      items.push(version)
    }
  }
  const metadata = {
    resourceVersion: String(revision),
    ...(more === undefined ? {} : { continue: continueFrom({ revision, after: position(more, at) }) }),
    // With a selector, the server does not count the objects that it has not looked at.
    ...(more === undefined || selects !== undefined ? {} : { remainingItemCount: remaining }),
  }
  const head = `{"kind":"${kind.kind}List","apiVersion":"${kind.apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`
  return `${head}${items.map(textOf).join(',')}]}`
}

/** Returns the position of an object: its name within a namespace, or namespace and name across all of them. */
function position({ object: { metadata } }: Version, { namespace }: Route): string {
  return metadata.namespace === undefined || namespace !== undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
}

/**
 * Returns the exact version that a request asks for. Otherwise any version that is not too old is allowed, and the list takes the newest.
 */
function exactRevision(query: URLSearchParams, newest: number): number | undefined {
  const asked = query.get('resourceVersion') ?? ''
  if (asked === '') return undefined
  if (!/^[0-9]+$/.test(asked)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: "${asked}": strconv.ParseUint: parsing "${asked}": invalid syntax`,
    )
  }
  if (Number(asked) > newest) throw tooLarge(Number(asked), newest)
  return query.get('resourceVersionMatch') === 'Exact' ? Number(asked) : undefined
}

export function tooLarge(asked: number, newest: number): Refusal {
  return refusal(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${newest}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** Writes the token as the API server does, so that a test of either server can make a token by hand. */
export function continueFrom({ revision, after }: Page): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` })).toString('base64url')
}

function pageOf(token: string): Page {
  const invalidToken = badRequest(`invalid continue token: continue key is not valid: ${token}`)
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Record<string, unknown>
    if (v !== 'meta.k8s.io/v1' || typeof rv !== 'number' || typeof start !== 'string') throw invalidToken
    return { revision: rv, after: start.replace(/\0$/, '') }
  } catch {
    throw invalidToken
  }
}
