import { parseAllDocuments } from 'yaml'
import { readBounded } from '../../config/read-bounded.ts'
import { UsageError } from '../arguments/usage-error.ts'

/** The objects of a namespace, as kubectl prints them. */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024
const PIPE_DEADLINE_MS = 30_000

export interface FileObject {
  readonly kind: string
  readonly object: Record<string, unknown>
}

/**
 * Reads the objects of a file that `kubectl get -o yaml` or `-o json` has printed, with those of its Lists.
 * @throws UsageError that names the file
 */
export async function readObjects(file: string): Promise<FileObject[]> {
  const fail = (problem: string): never => {
    throw new UsageError([`${file}: ${problem}`])
  }
  const limits = { largestBytes: LARGEST_FILE_BYTES, pipeDeadlineMs: PIPE_DEADLINE_MS, what: 'a file of objects' }
  const read = await readBounded(file, limits).catch((error: NodeJS.ErrnoException) =>
    fail(error.code === 'ENOENT' ? 'there is no such file' : error.message),
  )
  if (!(read instanceof Uint8Array)) return fail(read.message)
  return documentsIn(new TextDecoder().decode(read), fail).flatMap((document) => objectsIn(document, fail))
}

function documentsIn(text: string, fail: (problem: string) => never): unknown[] {
  // The parser of JSON is many times faster, and a namespace may have megabytes.
  if (text.trimStart().startsWith('{')) {
    try {
      return [JSON.parse(text)]
    } catch {
      // Several documents, or YAML that begins with a brace.
    }
  }
  const documents = parseAllDocuments(text, { prettyErrors: true })
  const all = 'empty' in documents ? [] : documents
  const [mistake] = all.flatMap(({ errors }) => errors)
  if (mistake !== undefined) fail(`is no YAML or JSON from line ${mistake.linePos?.[0].line ?? 1} on`)
  return all.map((one) => one.toJS() as unknown).filter((one) => one !== null)
}

function objectsIn(document: unknown, fail: (problem: string) => never): FileObject[] {
  const { kind, items } = (typeof document === 'object' ? document : {}) as { kind?: unknown; items?: unknown }
  if (typeof kind !== 'string') return fail('has an object without a kind: print it with kubectl get -o yaml or -o json')
  if (!Array.isArray(items)) return [{ kind, object: document as Record<string, unknown> }]
  // The items of a typed list, such as PodList, may have no kind.
  const kindOfItems = kind.replace(/List$/, '')
  return items.flatMap((item: unknown) =>
    objectsIn(typeof item === 'object' && item !== null && !('kind' in item) ? { kind: kindOfItems, ...item } : item, fail),
  )
}
