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
