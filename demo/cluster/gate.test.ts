import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openGate } from './gate.ts'

test('a way that is cut breaks what is under way, lets nothing through, and is there again', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/api/held') response.write('begun')
    else response.end(request.url)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gate = await openGate(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`)
  const held = await fetch(`${gate.url}/held`)
  gate.cut()
  await expect(held.text()).rejects.toThrow(TypeError)
  await expect(fetch(`${gate.url}/pods`)).rejects.toThrow(TypeError)
  gate.restore()
  expect(await (await fetch(`${gate.url}/pods`)).text()).toBe('/api/pods')
  await gate.close()
  server.close()
  server.closeAllConnections()
})
