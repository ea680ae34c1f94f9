import { expect, test } from 'vitest'
import { countByName, whyDealt } from './dns-slots.ts'
import type { ServerState } from './servers-state.ts'

const NONE = { hostName: '-', srvRecord: '-' }

function serverOf(name: string, over: Partial<ServerState>): ServerState {
  return {
    backendId: '3',
    id: '1',
    name,
    address: '10.0.0.1',
    port: 80,
    opState: 2,
    adminState: 0,
    weight: 1,
    configuredWeight: 1,
    agentState: 0,
    ...NONE,
    ...over,
  }
}

test.each([
  { slots: 'two with addresses and no names', first: {}, second: {}, dealt: false },
  { slots: 'two names', first: { hostName: 'a.local' }, second: { hostName: 'b.local' }, dealt: false },
  { slots: 'one name', first: { hostName: 'web.local' }, second: { hostName: 'web.local' }, dealt: true },
  { slots: 'one name in other letters', first: { hostName: 'web.local' }, second: { hostName: 'Web.local' }, dealt: true },
  // A server without an address has lost its pod in DNS. The rule is the same, because DNS gives it the next address.
  { slots: 'one name, no address', first: { hostName: 'w.local' }, second: { hostName: 'w.local', address: '-' }, dealt: true },
  // The servers have different ports of the same pods. A server never gets an entry with the port of the other.
  { slots: 'one name, two ports', first: { hostName: 'web.local' }, second: { hostName: 'web.local', port: 81 }, dealt: false },
  { slots: 'an SRV record', first: { hostName: 'web-0.local', srvRecord: '_http._tcp.web.local' }, second: {}, dealt: true },
])('$slots: dealt out by DNS $dealt', ({ first, second, dealt }) => {
  const servers = [serverOf('a', first), serverOf('b', second)]
  const why = whyDealt('web', '/sock', servers[0]!, countByName(servers))
  expect(why !== undefined).toBe(dealt)
  expect(why ?? 'web/a of /sock gets its address by DNS from ').toMatch(/^web\/a of \/sock gets its address by DNS from /)
})
