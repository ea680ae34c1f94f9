import { field, numberField, parseJson, stringField } from './json.ts'

/** One line of a watch, as far as it is readable without knowledge of the kind. */
export type WatchLine =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown; uid: string | undefined; version: string | undefined }
  | { type: 'BOOKMARK'; version: string }
  | { type: 'ERROR'; code: number | undefined; message: string }
  | { type: 'malformed'; why: string }

const MESSAGE_LIMIT = 300

/** Never throws. The message for a malformed line does not quote it. */
export function parseWatchLine(line: string): WatchLine {
  const parsed = parseJson(line)
  if (parsed === undefined) return { type: 'malformed', why: `a line of ${line.length} characters is not JSON` }
  const type = stringField(parsed.value, 'type')
  const object = field(parsed.value, 'object')
  const metadata = field(object, 'metadata')
  const version = stringField(metadata, 'resourceVersion')
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object, uid: stringField(metadata, 'uid'), version }
    case 'BOOKMARK':
      return version === undefined ? { type: 'malformed', why: 'a bookmark without a version' } : { type, version }
    case 'ERROR':
      return { type, code: numberField(object, 'code'), message: (stringField(object, 'message') ?? '').slice(0, MESSAGE_LIMIT) }
    default:
      return { type: 'malformed', why: 'a line of an unknown type' }
  }
}
