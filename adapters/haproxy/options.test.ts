import { expect, test } from 'vitest'
import { haproxyOptions, parseSocketAddress } from './options.ts'

test.each([
  ['/run/haproxy/admin.sock', { path: '/run/haproxy/admin.sock' }],
  ['lb-1.example:9999', { host: 'lb-1.example', port: 9999 }],
  ['10.0.0.5:9999', { host: '10.0.0.5', port: 9999 }],
  ['[fd00::5]:9999', { host: 'fd00::5', port: 9999 }],
])('%s is a socket', (text, address) => {
  expect(parseSocketAddress(text)).toEqual(address)
})

test.each(['', 'admin.sock', 'lb:0', 'lb:65536', 'lb', ':9999', 'fd00::5:9999', 'a b:1', `/${'x'.repeat(107)}`])(
  '"%s" is none',
  (text) => {
    expect(parseSocketAddress(text)).toBeUndefined()
  },
)

test.each(['web', 'be_app-1.example:80'])('backend %s', (backend) => {
  expect(haproxyOptions.parse({ socket: '/a', backend })).toEqual({ socket: '/a', backend })
})

test.each(['', 'web/a', 'web;show info', 'web\nshow info', 'web a', '@1', '#1'])('backend "%s" is refused', (backend) => {
  expect(haproxyOptions.safeParse({ socket: '/a', backend }).success).toBe(false)
})

test.each([
  { backend: 'web' },
  { socket: '/a', sockets: ['/b'], backend: 'web' },
  { sockets: [], backend: 'web' },
  { sockets: ['/a', '/a'], backend: 'web' },
  { sockets: ['/a'], master: '/m', backend: 'web' },
  { socket: '/a', backend: 'web', settle: '1s' },
])('refused: %j', (options) => {
  expect(haproxyOptions.safeParse(options).success).toBe(false)
})

test.each<[object, string]>([
  [
    { socket: 'admin.sock', backend: 'web' },
    '"admin.sock" is no address of a socket\nwrite /path of a unix socket, at most 107 bytes, or host:port',
  ],
  [{ socket: '/a', backend: 'web a' }, '"web a" cannot be the name of a backend\nuse letters, digits and any of _ . : -'],
  [{ sockets: ['/a', '/b', '/a'], backend: 'web' }, 'names "/a" twice\nname each socket once'],
  [
    { socket: '/a', sockets: ['/b'], backend: 'web' },
    'has both socket and sockets\nkeep socket for one HAProxy, sockets for several',
  ],
  [{ backend: 'web' }, 'needs either socket or sockets\nwrite socket: for one HAProxy, sockets: with a list for several'],
])('the value and the way out: %j', (options, message) => {
  expect(haproxyOptions.safeParse(options).error?.issues.map((issue) => issue.message)).toEqual([message])
})
