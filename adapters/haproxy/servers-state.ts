/** Reads `show servers state BACKEND`: the state of each server, and the meaning of its admin bits. */
import type { Json } from '../contract.ts'

export interface ServerState {
  /** The id of the backend. A frontend and a backend may share a name, but not an id. */
  backendId: string
  id: string
  name: string
  /** The address. `-` if it is not resolved. */
  address: string
  port: number
  opState: number
  adminState: number
  /** The weight at run time. It begins with the configured one. */
  weight: number
  configuredWeight: number
  agentState: number
  /** The host name for DNS. `-` if the server has none. */
  hostName: string
  /** The SRV record that gives the host name. `-` if the server has none. */
  srvRecord: string
}

/** The states in HAProxy's own words, as `set server … state` takes them. */
export type ServerAdmin = 'ready' | 'drain' | 'maint'

/**
 * The state that the journal stores. It has no weight if the weight is the configured one, which a reload may change, or if an agent check
 * sets the weight.
 */
export interface Prior {
  state: ServerAdmin
  weight?: number
}

const FORCED_MAINT = 0x01
const FORCED_DRAIN = 0x08
/**
 * The bits for forced maint and for maint of a tracked server. Two other bits do not stop a server: 0x04 means that its config has
 * `disabled`, and 0x40 that its host name was set at run time by an operator or an SRV record.
 */
const ANY_MAINT = 0x01 | 0x02
/** The bits for a forced drain and for a drain of a tracked server. */
const ANY_DRAIN = 0x08 | 0x10

const NO_ADDRESS_BY_DNS = 0x20

const AGENT_ENABLED = 0x04

const OP_STARTING = 1
const OP_RUNNING = 2

const COLUMNS = {
  backendId: 'be_id',
  id: 'srv_id',
  name: 'srv_name',
  address: 'srv_addr',
  port: 'srv_port',
  opState: 'srv_op_state',
  adminState: 'srv_admin_state',
  weight: 'srv_uweight',
  configuredWeight: 'srv_iweight',
  agentState: 'srv_agent_state',
  hostName: 'srv_fqdn',
  srvRecord: 'srvrecord',
} as const

/** Parses the table. Undefined if the text is another one, usually an error of HAProxy. */
export function parseServersState(text: string): ServerState[] | undefined {
  const lines = text.split('\n')
  const headerAt = lines.findIndex((line) => line.startsWith('# '))
  if (headerAt === -1) return undefined
  const header = lines[headerAt]!.slice(2).split(' ')
  const positions = Object.entries(COLUMNS).map(([key, column]) => [key, header.indexOf(column)] as const)
  if (positions.some(([, position]) => position === -1)) return undefined
  const at = Object.fromEntries(positions) as Record<keyof typeof COLUMNS, number>
  const rows = lines.slice(headerAt + 1).filter((line) => line !== '')
  const servers = rows.map((row) => serverOf(row.split(' '), at))
  return servers.every((server) => server !== undefined) ? servers : undefined
}

/** Parses a row. Undefined if a cell is missing or is not a number, because it would become 0, which means "ready". */
function serverOf(cells: readonly string[], at: Record<keyof typeof COLUMNS, number>): ServerState | undefined {
  const cell = (key: keyof typeof COLUMNS): string => cells[at[key]] ?? ''
  const number = (key: keyof typeof COLUMNS): number => (/^\d+$/.test(cell(key)) ? Number(cell(key)) : Number.NaN)
  const server: ServerState = {
    backendId: cell('backendId'),
    id: cell('id'),
    name: cell('name'),
    address: cell('address'),
    port: number('port'),
    opState: number('opState'),
    adminState: number('adminState'),
    weight: number('weight'),
    configuredWeight: number('configuredWeight'),
    agentState: number('agentState'),
    hostName: cell('hostName'),
    srvRecord: cell('srvRecord'),
  }
  return Object.values(server).some((value) => value === '' || Number.isNaN(value)) ? undefined : server
}

/** The state that was set on the server itself. A restore can put back only this state. */
export function forcedState({ adminState }: ServerState): ServerAdmin {
  if (adminState & FORCED_MAINT) return 'maint'
  return adminState & FORCED_DRAIN ? 'drain' : 'ready'
}

/**
 * The state that an operator or sluice has set, also on a tracked server or with the weight. The state from an agent or DNS does not count,
 * because it may end at any time.
 */
export function admission(server: ServerState): 'in' | 'draining' | 'out' {
  if (server.adminState & ANY_MAINT) return 'out'
  return server.adminState & ANY_DRAIN || (server.weight === 0 && !hasAgent(server)) ? 'draining' : 'in'
}

/** True if new requests can reach the server: it is in rotation, and its checks, its agent and DNS allow it. */
export function isRoutable(server: ServerState): boolean {
  const isUp = server.opState === OP_RUNNING || server.opState === OP_STARTING
  return admission(server) === 'in' && isUp && server.weight > 0 && !(server.adminState & NO_ADDRESS_BY_DNS)
}

function hasAgent({ agentState }: ServerState): boolean {
  return (agentState & AGENT_ENABLED) !== 0
}

export function priorOf(server: ServerState): Prior {
  const state = forcedState(server)
  const isAsConfigured = server.weight === server.configuredWeight || hasAgent(server)
  return isAsConfigured ? { state } : { state, weight: server.weight }
}

export function parsePrior(prior: Json): Prior | undefined {
  if (typeof prior !== 'object' || prior === null || Array.isArray(prior)) return undefined
  const { state, weight } = prior
  if (state !== 'ready' && state !== 'drain' && state !== 'maint') return undefined
  if (weight === undefined) return { state }
  return typeof weight === 'number' && Number.isInteger(weight) && weight >= 0 && weight <= 256 ? { state, weight } : undefined
}

/** The state as a text for the operator. */
export function describeServer(server: ServerState): string {
  const causes = [
    server.adminState & FORCED_MAINT && 'maint',
    server.adminState & 0x02 && 'maint of the server that it tracks',
    server.adminState & NO_ADDRESS_BY_DNS && 'no address by DNS',
    server.adminState & FORCED_DRAIN && 'drain',
    server.adminState & 0x10 && 'drain of the server that it tracks',
    server.weight === 0 && (hasAgent(server) ? 'weight 0 by its agent' : 'weight 0'),
    server.opState !== OP_RUNNING &&
      server.opState !== OP_STARTING &&
      !(server.adminState & (ANY_MAINT | NO_ADDRESS_BY_DNS)) &&
      'down',
  ].filter((cause) => typeof cause === 'string')
  return `${server.name}: ${causes.length > 0 ? causes.join(', ') : 'ready'}`
}
