/** Reads `show servers state BACKEND`: what HAProxy knows of each server, and what its admin bits mean. */
import type { Json } from '../contract.ts'

export interface ServerState {
  /** Proxies are named twice as often as not: a frontend and a backend may share a name, but no id. */
  backendId: string
  id: string
  name: string
  /** `-` where it is not resolved. */
  address: string
  port: number
  opState: number
  adminState: number
  /** Set at run time; until then the configured one. */
  weight: number
  configuredWeight: number
  agentState: number
  /** Whose address it asks DNS for; `-` where it has none, as for `srvRecord`. */
  hostName: string
  /** What names its host, where that comes by DNS too. */
  srvRecord: string
}

/** HAProxy's own words: what `set server … state` takes. */
export type ServerAdmin = 'ready' | 'drain' | 'maint'

/**
 * What the journal keeps. The weight only where it is not the configured one, which may change with a reload, and not where an
 * agent check gives it: that one changes it by itself.
 */
export interface Prior {
  state: ServerAdmin
  weight?: number
}

const FORCED_MAINT = 0x01
const FORCED_DRAIN = 0x08
/**
 * Forced; inherited from a tracked server. Two bits only remember something of a server that serves: 0x04 that it was configured
 * as `disabled`, and 0x40 that its host name was set at run time, by a person or an SRV record.
 */
const ANY_MAINT = 0x01 | 0x02
/** Forced; inherited from a tracked server. */
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

/** Undefined where the text is not such a table: HAProxy said something else, mostly an error. */
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

/** A cell that is missing, or no number where one belongs, would pass for 0, which means "ready". */
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

/** What was set on the server itself: this is what a restore can put back. */
export function forcedState({ adminState }: ServerState): ServerAdmin {
  if (adminState & FORCED_MAINT) return 'maint'
  return adminState & FORCED_DRAIN ? 'drain' : 'ready'
}

/**
 * What somebody has set, also on a tracked server or by the weight. What an agent or DNS says at the moment ends by itself: it is
 * neither an operator's, nor proof of a drain.
 */
export function admission(server: ServerState): 'in' | 'draining' | 'out' {
  if (server.adminState & ANY_MAINT) return 'out'
  return server.adminState & ANY_DRAIN || (server.weight === 0 && !hasAgent(server)) ? 'draining' : 'in'
}

/** New requests can reach it: admitted, and not held back by its checks, its agent or DNS. */
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

/** For a person. */
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
