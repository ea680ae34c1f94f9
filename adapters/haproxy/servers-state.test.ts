import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  admission,
  describeServer,
  forcedState,
  isRoutable,
  parsePrior,
  parseServersState,
  priorOf,
  type ServerState,
} from './servers-state.ts'

/** An answer of HAProxy 2.6. */
const ANSWER = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port
3 web 1 a 127.0.0.1 2 8 5 10 1 1 0 2 0 0 0 0 - 18001 - 0 0 - - 0
3 web 2 b ::1 0 0 1 1 1 8 2 0 6 0 0 0 localhost 18002 - 0 0 - - 0
`

const server: ServerState = {
  backendId: '3',
  id: '1',
  name: 'a',
  address: '10.0.0.1',
  port: 80,
  opState: 2,
  adminState: 0,
  weight: 1,
  configuredWeight: 1,
  agentState: 0,
  hostName: '-',
  srvRecord: '-',
}

test('reads the table of HAProxy 2.6', () => {
  expect(parseServersState(ANSWER)).toEqual([
    {
      backendId: '3',
      id: '1',
      name: 'a',
      address: '127.0.0.1',
      port: 18001,
      opState: 2,
      adminState: 8,
      weight: 5,
      configuredWeight: 10,
      agentState: 0,
      hostName: '-',
      srvRecord: '-',
    },
    {
      backendId: '3',
      id: '2',
      name: 'b',
      address: '::1',
      port: 18002,
      opState: 0,
      adminState: 0,
      weight: 1,
      configuredWeight: 1,
      agentState: 0,
      hostName: 'localhost',
      srvRecord: '-',
    },
  ])
})

test('columns are found by name, wherever another version has them', () => {
  const columns = ANSWER.split('\n')[1]!.slice(2).split(' ')
  fc.assert(
    fc.property(fc.shuffledSubarray(columns, { minLength: columns.length }), (shuffled) => {
      const rows = ANSWER.trim().split('\n').slice(2)
      const reordered = rows.map((row) => shuffled.map((column) => row.split(' ')[columns.indexOf(column)]).join(' '))
      const text = ['1', `# ${shuffled.join(' ')} srv_of_tomorrow`, ...reordered.map((row) => `${row} 7`)].join('\n')
      expect(parseServersState(text)).toEqual(parseServersState(ANSWER))
    }),
  )
})

test('a row that lacks a cell is none of a server that is ready: the whole is no table', () => {
  const [, header = '', row = ''] = ANSWER.split('\n')
  const last = header.slice(2).split(' ').indexOf('srvrecord')
  const cells = row.split(' ')
  for (let count = 1; count <= last; count++) {
    expect(parseServersState(`1\n${header}\n${cells.slice(0, count).join(' ')}\n`)).toBeUndefined()
  }
  expect(parseServersState(`1\n${header}\n${cells.slice(0, last + 1).join(' ')}\n`)).toHaveLength(1)
})

test('whatever the cells are, what is read of a server is whole', () => {
  const cell = fc.constantFrom('', '-', '1', '0', '-1', '1.5', 'web', '1e3', '0x1')
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 19, maxLength: 26 }), { maxLength: 3 }), (rows) => {
      const text = [...ANSWER.split('\n').slice(0, 2), ...rows.map((cells) => cells.join(' '))].join('\n')
      for (const one of parseServersState(text) ?? []) {
        expect([one.port, one.opState, one.adminState, one.weight, one.configuredWeight].every(Number.isInteger)).toBe(true)
        expect([one.backendId, one.id, one.name, one.address, one.hostName, one.srvRecord]).not.toContain('')
      }
    }),
    { numRuns: 500 },
  )
})

test.each(["Can't find backend.", 'Permission denied', '', '1\n# be_id be_name\n3 web'])('"%s" is no table', (text) => {
  expect(parseServersState(text)).toBeUndefined()
})

test.each([
  { adminState: 0x00, forced: 'ready', admitted: 'in', why: 'ready' },
  { adminState: 0x01, forced: 'maint', admitted: 'out', why: 'maint' },
  { adminState: 0x02, forced: 'ready', admitted: 'out', why: 'maint of the server that it tracks' },
  { adminState: 0x05, forced: 'maint', admitted: 'out', why: 'maint' },
  // The config has `disabled`, and the server was made ready at run time.
  { adminState: 0x04, forced: 'ready', admitted: 'in', why: 'ready' },
  { adminState: 0x08, forced: 'drain', admitted: 'draining', why: 'drain' },
  { adminState: 0x10, forced: 'ready', admitted: 'draining', why: 'drain of the server that it tracks' },
  // The server has no address from DNS now. No operator has set that.
  { adminState: 0x20, forced: 'ready', admitted: 'in', why: 'no address by DNS' },
  // SRV_ADMF_HMAINT is not a maint. It means that the host name was set at run time.
  { adminState: 0x40, forced: 'ready', admitted: 'in', why: 'ready' },
  { adminState: 0x48, forced: 'drain', admitted: 'draining', why: 'drain' },
  { adminState: 0x60, forced: 'ready', admitted: 'in', why: 'no address by DNS' },
  { adminState: 0x21, forced: 'maint', admitted: 'out', why: 'maint, no address by DNS' },
  { adminState: 0x28, forced: 'drain', admitted: 'draining', why: 'no address by DNS, drain' },
])('admin state $adminState: $why', ({ adminState, forced, admitted, why }) => {
  const state = { ...server, adminState }
  expect([forcedState(state), admission(state), describeServer(state)]).toEqual([forced, admitted, `a: ${why}`])
})

test.each([
  { opState: 0, weight: 1, routable: false },
  { opState: 1, weight: 1, routable: true },
  { opState: 2, weight: 1, routable: true },
  { opState: 3, weight: 1, routable: false },
  { opState: 2, weight: 0, routable: false },
])('operational state $opState with weight $weight: routable $routable', ({ opState, weight, routable }) => {
  expect(isRoutable({ ...server, opState, weight })).toBe(routable)
})

test('who has no address by DNS at the moment gets no requests, whatever its operational state says', () => {
  expect(isRoutable({ ...server, adminState: 0x20 })).toBe(false)
})

test.each([
  { agentState: 0x00, admitted: 'draining', why: 'weight 0' },
  // The agent is configured but disabled at run time, so the weight stays.
  { agentState: 0x02, admitted: 'draining', why: 'weight 0' },
  { agentState: 0x06, admitted: 'in', why: 'weight 0 by its agent' },
  { agentState: 0x07, admitted: 'in', why: 'weight 0 by its agent' },
])('weight 0 with agent state $agentState: $admitted, and not routable', ({ agentState, admitted, why }) => {
  const state = { ...server, weight: 0, agentState }
  expect([admission(state), isRoutable(state), describeServer(state)]).toEqual([admitted, false, `a: ${why}`])
  expect(admission({ ...state, adminState: 0x08 })).toBe('draining')
})

test('a prior state survives the journal, and holds the weight only where it is not the configured one', () => {
  expect(priorOf({ ...server, weight: 4, configuredWeight: 4 })).toEqual({ state: 'ready' })
  const weight = fc.nat({ max: 256 })
  fc.assert(
    fc.property(fc.nat({ max: 0x7f }), weight, weight, (adminState, current, configuredWeight) => {
      const prior = priorOf({ ...server, adminState, weight: current, configuredWeight })
      expect(parsePrior(JSON.parse(JSON.stringify(prior)))).toEqual(prior)
    }),
  )
})

test.each([null, 'ready', [], {}, { state: 'up' }, { state: 'ready', weight: -1 }, { state: 'ready', weight: '5;x' }])(
  '%j is no prior state',
  (prior) => {
    expect(parsePrior(prior)).toBeUndefined()
  },
)
