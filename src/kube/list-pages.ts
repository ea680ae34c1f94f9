import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { field, stringField } from './json.ts'
import { withQuery } from './query.ts'
import { ReflectorError } from './reflector-error.ts'

const PAGE_SIZE = 500
/** The deadline of a page, or of the whole collection after an expired page; longer than for other calls. */
const LIST_DEADLINE_MS = 60_000

export interface ListRequest {
  client: KubeClient
  path: string
  selectors?: { labelSelector?: string | undefined; fieldSelector?: string | undefined }
  signal?: AbortSignal
  /** Sends each request once, without retries after a 429. */
  once?: boolean
}

export interface RawListing {
  items: unknown[]
  version: string
}

/**
 * Lists the whole collection at one version, in pages. The request has no resourceVersion, so the read is consistent. Decisions such as "is
 * a journal open?" must not depend on a server that lags behind an earlier owner's writes, and a relist must not go back in time, as
 * `resourceVersion=0` allows.
 */
export async function listPages(request: ListRequest): Promise<RawListing> {
  try {
    return await followPages(request, PAGE_SIZE)
  } catch (error) {
    // All pages belong to one version, and the server has dropped it. A list without pages cannot expire.
    if (error instanceof KubeError && error.status === 410) return followPages(request, undefined)
    throw error
  }
}

async function followPages(
  { client, path, selectors, signal, once = false }: ListRequest,
  limit: number | undefined,
): Promise<RawListing> {
  const items: unknown[] = []
  let version: string | undefined
  let next: string | undefined
  do {
    const page: unknown = await client.get(withQuery(path, { ...selectors, limit: limit?.toString(), continue: next }), {
      ...(signal ? { signal } : {}),
      deadlineMs: LIST_DEADLINE_MS,
      once,
    })
    const metadata = field(page, 'metadata')
    const pageItems = field(page, 'items')
    // The version of the first page. A watch from there replays some events at worst, and replays are dropped.
    version ??= stringField(metadata, 'resourceVersion')
    if (version === undefined || !(Array.isArray(pageItems) || pageItems === null)) {
      throw new ReflectorError(`list of ${path}: the answer is no list`, { problem: 'malformed', path })
    }
    for (const item of pageItems ?? []) items.push(item)
    // The last page has no token, or an empty one.
    next = stringField(metadata, 'continue') || undefined
  } while (next !== undefined)
  return { items, version }
}
