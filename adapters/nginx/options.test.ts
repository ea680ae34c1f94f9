import { expect, test } from 'vitest'
import { nginxOptions } from './options.ts'

const GOOD = { file: '/etc/nginx/conf.d/web.conf', upstream: 'web' }
const HOST = { name: 'lb1', prefix: ['ssh', 'lb1'] }

test('the defaults are those of the packages of nginx', () => {
  expect(nginxOptions.parse(GOOD)).toEqual({
    ...GOOD,
    pidFile: '/run/nginx.pid',
    test: ['nginx', '-t'],
    reload: ['nginx', '-s', 'reload'],
    word: 'down',
    settle: '5s',
  })
})

test.each([
  { file: GOOD.file },
  { ...GOOD, hosts: [HOST, { ...HOST, name: 'lb2' }] },
  { ...GOOD, word: 'drain', settle: '0s', pidFile: '/var/run/n.pid', reload: ['systemctl', 'reload', 'nginx'] },
])('%j is taken', (options) => {
  expect(nginxOptions.safeParse(options).error).toBeUndefined()
})

test.each([
  [{ ...GOOD, file: 'web.conf' }, 'file', '"web.conf" is no absolute path\nwrite it from / on, without a / at its end'],
  [
    { ...GOOD, upstream: 'web {' },
    'upstream',
    '"web {" cannot be the name of an upstream\nwrite the word that follows upstream in the file',
  ],
  [{ ...GOOD, hosts: [] }, 'hosts', 'is an empty list\nremove it for an nginx on this host, or name the hosts'],
  [{ ...GOOD, hosts: [HOST, HOST] }, 'hosts', 'names "lb1" twice\ngive each host a name of its own'],
  [
    { ...GOOD, hosts: [{ ...HOST, name: 'lb 1' }] },
    'hosts.0.name',
    '"lb 1" cannot be the name of a host\nuse letters, digits and any of _ . -',
  ],
  [
    { ...GOOD, hosts: [{ name: 'lb1', prefix: [] }] },
    'hosts.0.prefix',
    'is an empty list\nremove it, or write a command such as [ssh, lb1]',
  ],
  [{ ...GOOD, test: [] }, 'test', 'is an empty list\nwrite the program and its arguments, such as [nginx, -t]'],
  [{ ...GOOD, reload: ['nginx', ''] }, 'reload.1', 'has an empty word\nremove it'],
  [{ ...GOOD, word: 'weight=0' }, 'word', '"weight=0" takes no server out\nwrite down, or drain from nginx 1.31 on'],
  [{ ...GOOD, settle: 5 }, 'settle', '5 has no unit\nwrite "5s" for seconds or "5ms" for milliseconds'],
])('%j is refused', (options, path, message) => {
  const issues = nginxOptions.safeParse(options).error?.issues.map((issue) => [issue.path.join('.'), issue.message])
  expect(issues).toEqual([[path, message]])
})
