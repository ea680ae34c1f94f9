import { describe, test } from 'vitest'
import { makeRestBed } from '../conformance/beds/rest.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { remote } from './index.ts'
import { startPluginServer } from './testing/plugin-server.ts'

describeAdapter({ describe, test }, 'remote', async ({ servers }) => {
  const plugin = await startPluginServer()
  const bed = await makeRestBed({
    servers,
    create({ url, tokenFile }) {
      const options = {
        url: plugin.url,
        settings: { url },
        ...(tokenFile === undefined ? {} : { auth: { bearer: { file: tokenFile } } }),
        capabilities: { inFlight: 'exact', settle: '0s' },
      }
      return remote.create(remote.options.parse(options), { name: 'edge' })
    },
  })
  return {
    ...bed,
    async close() {
      await bed.close()
      plugin.close()
    },
  }
})
