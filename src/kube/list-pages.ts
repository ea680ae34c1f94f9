import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { field, stringField } from './json.ts'
import { withQuery } from './query.ts'
import { ReflectorError } from './reflector-error.ts'

const PAGE_SIZE = 500
/** A page, or the whole collection after an expired page: longer than other calls may take. */
const LIST_DEADLINE_MS = 60_000

export interface ListRequest {
  client: KubeClient
  path: string
  selectors?: { labelSelector?: string | undefined; fieldSelector?: string | undefined }
  signal?: AbortSignal
  /** A page that is put off (429) is not asked for again. */
  once?: boolean
}

export interface RawListing {
  items: unknown[]
  version: string
}

/**
 * The whole collection at one version, in pages. No resourceVersion is asked for, so the read is consistent (through
 * etcd or a watch cache that has caught up): what is decided on it (is a journal open? who is drained?) must not
 * come from a server that lags behind what an owner before us has written, and a relist must never go back in time,
 * which `resourceVersion=0` allows.
 */
export async function listPages(request: ListRequest): Promise<RawListing> {
  try {
    return await followPages(request, PAGE_SIZE)
  } catch (error) {
    // The pages are of one version, and the server no longer has it: a list without pages cannot expire.
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
    // The first page's version: a watch from there replays at worst, and replays are dropped.
    version ??= stringField(metadata, 'resourceVersion')
    if (version === undefined || !(Array.isArray(pageItems) || pageItems === null)) {
      throw new ReflectorError(`list of ${path}: the answer is no list`, { problem: 'malformed', path })
    }
    for (const item of pageItems ?? []) items.push(item)
    // The last page has none, or an empty one.
    next = stringField(metadata, 'continue') || undefined
  } while (next !== undefined)
  return { items, version }
}
