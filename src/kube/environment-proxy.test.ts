import { describe, expect, test } from 'vitest'
import { environmentProxy } from './environment-proxy.ts'

const SERVER = 'https://api.shop.example:6443'
const proxyOf = (server: string, env: NodeJS.ProcessEnv): string | undefined => environmentProxy(server, env)?.url

describe('which variable', () => {
  test.each<[string, NodeJS.ProcessEnv, string | undefined]>([
    [SERVER, {}, undefined],
    [SERVER, { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128'],
    [SERVER, { https_proxy: 'http://small:3128' }, 'http://small:3128'],
    [SERVER, { HTTPS_PROXY: '', https_proxy: 'http://small:3128' }, 'http://small:3128'],
    [SERVER, { HTTPS_PROXY: 'http://proxy:3128', https_proxy: 'http://small:3128' }, 'http://proxy:3128'],
    [SERVER, { HTTP_PROXY: 'http://proxy:3128' }, undefined],
    ['http://api.shop.example', { HTTP_PROXY: 'proxy:3128', HTTPS_PROXY: 'http://other' }, 'http://proxy:3128'],
  ])('%s with %j: %s', (server, env, proxy) => {
    expect(proxyOf(server, env)).toBe(proxy)
  })

  test('is said with it', () => {
    expect(environmentProxy(SERVER, { https_proxy: 'socks5://proxy' })).toEqual({
      variable: 'https_proxy',
      url: 'socks5://proxy',
    })
  })
})

test.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.8.9.1', 'https://[::1]:6443'])(
  'loopback needs none: %s',
  (server) => {
    expect(proxyOf(server, { HTTPS_PROXY: 'http://proxy' })).toBeUndefined()
  },
)

describe('NO_PROXY', () => {
  test.each([
    [SERVER, '*'],
    [SERVER, 'api.shop.example'],
    [SERVER, 'shop.example'],
    [SERVER, '.shop.example'],
    [SERVER, '*.shop.example'],
    [SERVER, 'other.example, Shop.Example ,10.0.0.0/8'],
    [SERVER, 'api.shop.example:6443'],
    ['https://api.shop.example.:6443', 'shop.example'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://10.1.2.3', '10.1.2.3:443'],
    ['https://[fd00::7]:6443', 'fd00::/16'],
    ['https://[fd00::7]:6443', 'fd00::7'],
    ['https://[fd00::7]:6443', '[fd00::7]:6443'],
  ])('%s is excepted by %s', (server, NO_PROXY) => {
    expect(proxyOf(server, { HTTPS_PROXY: 'http://proxy', NO_PROXY })).toBeUndefined()
    expect(proxyOf(server, { HTTPS_PROXY: 'http://proxy', no_proxy: NO_PROXY })).toBeUndefined()
  })

  test.each([
    [SERVER, ''],
    [SERVER, ','],
    [SERVER, 'op.example'],
    [SERVER, 'api.shop.example:443'],
    [SERVER, '.api.shop.example'],
    [SERVER, '10.0.0.0/8'],
    ['https://11.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '.2.3'],
    ['https://10.1.2.3', '10.0.0.0/99'],
    ['https://[fd01::7]:6443', 'fd00::/16'],
  ])('%s is not excepted by %s', (server, NO_PROXY) => {
    expect(proxyOf(server, { HTTPS_PROXY: 'http://proxy', NO_PROXY })).toBe('http://proxy')
  })
})
