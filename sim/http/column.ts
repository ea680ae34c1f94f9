import type { KubeObject } from '../api-server/server.ts'
import { since } from './ages.ts'

/** One column of a kind, and what is in it. */
export interface Column {
  name: string
  type?: 'string' | 'integer'
  /** Shown with `-o wide` alone. */
  wide?: boolean
  cell: (object: KubeObject, wallNow: number) => string | number
}

export const NONE = '<none>'

export const name: Column = { name: 'Name', cell: ({ metadata }) => metadata.name }
export const age: Column = { name: 'Age', cell: ({ metadata }, wallNow) => since(metadata.creationTimestamp, wallNow) }
