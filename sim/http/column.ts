import type { KubeObject } from '../api-server/server.ts'
import { since } from './ages.ts'

/** One column of a kind, with the function that fills its cells. */
export interface Column {
  name: string
  type?: 'string' | 'integer'
  /** Shows the column with `-o wide` only. */
  wide?: boolean
  cell: (object: KubeObject, wallNow: number) => string | number
}

export const NONE = '<none>'

export const name: Column = { name: 'Name', cell: ({ metadata }) => metadata.name }
export const age: Column = { name: 'Age', cell: ({ metadata }, wallNow) => since(metadata.creationTimestamp, wallNow) }
