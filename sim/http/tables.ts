import type { ApiAnswer, ApiRequest, KubeObject } from '../api-server/server.ts'
import type { Column } from './column.ts'
import { columnsOf } from './columns.ts'

/* Tables, as `kubectl get` asks for them. The server decides about the columns and their contents. */

const TABLE = { kind: 'Table', apiVersion: 'meta.k8s.io/v1' }

export function wantsTable({ method, headers }: ApiRequest): boolean {
  return method === 'GET' && /;as=Table;(.*;)?v=v1(;|,|$)/.test((headers['accept'] ?? '').replaceAll(' ', ''))
}

/** Returns the table of an object or a list. Any other answer stays as it is. */
export function tableAnswer(request: ApiRequest, plain: ApiAnswer, wallNow: number): ApiAnswer {
  if (plain.status !== 200) return plain
  const body = JSON.parse(plain.text) as KubeObject & { items?: KubeObject[] }
  if (body.kind === 'Status') return plain
  const objects = body.items ?? [body]
  const metadata = body.items === undefined ? { resourceVersion: body.metadata.resourceVersion } : body.metadata
  const columns = columnsOf(body.kind.replace(/List$/, ''))
  const rows = objects.map((object) => row(object, columns, request, wallNow))
  return { ...plain, text: JSON.stringify({ ...TABLE, metadata, columnDefinitions: definitions(columns), rows }) }
}

/** Turns each line of a watch into the table of its object. Only the first table has the columns. */
export function tableLines(request: ApiRequest, wallNow: () => number): (line: string) => string {
  let isFirst = true
  return (line) => {
    const { type, object } = JSON.parse(line) as { type: string; object: KubeObject }
    if (type === 'ERROR') return line
    const columns = columnsOf(object.kind)
    const columnDefinitions = isFirst ? definitions(columns) : []
    isFirst = false
    const rows = type === 'BOOKMARK' ? [] : [row(object, columns, request, wallNow())]
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    return JSON.stringify({ type, object: { ...TABLE, metadata, columnDefinitions, rows } })
  }
}

function definitions(columns: readonly Column[]): unknown[] {
  return columns.map(({ name, type = 'string', wide = false }) => ({
    name,
    type,
    format: name === 'Name' ? 'name' : '',
    description: '',
    priority: wide ? 1 : 0,
  }))
}

function row(object: KubeObject, columns: readonly Column[], { path }: ApiRequest, wallNow: number): unknown {
  const cells = columns.map(({ cell }) => cell(object, wallNow))
  const include = /[?&]includeObject=(\w+)/.exec(path)?.[1] ?? 'Metadata'
  if (include === 'None') return { cells }
  if (include === 'Object') return { cells, object }
  return { cells, object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata } }
}
