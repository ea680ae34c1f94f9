import { formatAddress } from '../address.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerState } from './servers-state.ts'
import { entryOf, formatTargetId, indexByAddress, parseTargetId, rewriteAddress, whyMissing, whyShared } from './targets.ts'

function serverAt(name: string, address: string, port: number): ServerState {
  return {
    backendId: '3',
    id: '1',
    name,
    address,
    port,
    opState: 2,
    adminState: 0,
    weight: 1,
    configuredWeight: 1,
    agentState: 0,
    hostName: '-',
    srvRecord: '-',
  }
}

test('an id is read back as what it was made of', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_.:-]+$/)
  const scope = fc.constantFrom('web', '/run/haproxy/admin.sock/web', '[fd00::5]:9999/web')
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(scope, name, address, fc.integer({ min: 1, max: 65_535 }), (inScope, serverName, at, port) => {
      const server = serverAt(serverName, at, port)
      const key = parseTargetId(['other', inScope], formatTargetId(inScope, server))
      expect(key).toMatchObject({ name: serverName, port })
      expect(indexByAddress([server]).get(formatAddress(key!))).toEqual([server])
    }),
  )
})

test('the entry is what stays when the server gets another address', () => {
  expect(entryOf('web/a@10.0.0.1:80')).toBe('a')
  expect(entryOf('[fd00::5]:9999/web/a@[fd00::a]:80')).toBe('a')
})

test.each(['web/a', 'api/a@10.0.0.1:80', 'web/a;show info@10.0.0.1:80', 'web/a\n@10.0.0.1:80', 'web/@10.0.0.1:80', 'web/a@:80'])(
  '%j is no id of scope web',
  (id) => {
    expect(parseTargetId(['web'], id)).toBeUndefined()
  },
)

test('IPv6 addresses are the same however they are written', () => {
  const servers = [serverAt('a', '::1', 80), serverAt('b', 'fd00::a', 80), serverAt('c', '-', 0)]
  const byAddress = indexByAddress(servers)
  const at = (address: string) => byAddress.get(formatAddress({ address, port: 80 }))
  expect(at('0:0:0:0:0:0:0:0001')).toEqual([servers[0]])
  expect(at('FD00:0::A')).toEqual([servers[1]])
  expect(at('::2')).toBeUndefined()
})

test('an address that is written with its port is the same one', () => {
  for (const address of ['10.0.0.1', '::1', 'fd00::a', '::ffff:10.0.0.1']) {
    const written = address.includes(':') ? `[${address}]:80` : `${address}:80`
    expect(rewriteAddress(written)).toBe(formatAddress({ address, port: 80 }))
  }
  expect(rewriteAddress('unix')).toBe('unix')
})

test('says where the server of a target has gone', () => {
  const key = { name: 'a', address: '10.0.0.1', port: 80 }
  expect(whyMissing(new Map([['a', serverAt('a', '10.0.0.9', 80)]]), key)).toBe(
    'server a has the address 10.0.0.9:80 now, not 10.0.0.1:80, which none has',
  )
  expect(whyMissing(new Map(), key)).toBe('there is no server a any more, and none has the address 10.0.0.1:80')
})

test('names all that have one address', () => {
  const servers = ['a', 'b', 'c'].map((name) => serverAt(name, 'fd00::a', 80))
  expect(whyShared('web', '/sock', servers.slice(1))).toBe('web/b and web/c of /sock both have the address [fd00::a]:80')
  expect(whyShared('web', '/sock', servers)).toBe('web/a and web/b and web/c of /sock all have the address [fd00::a]:80')
})
