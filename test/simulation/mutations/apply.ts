/** `node --import ./test/simulation/mutations/apply.ts PROGRAM` with MUTATION=NAME runs PROGRAM on code with that mutation. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MUTATIONS } from './mutations.ts'
import { mutate } from './mutation.ts'

const { MUTATION: name } = process.env
const mutation = MUTATIONS.find((one) => one.name === name)
if (mutation === undefined) throw new Error(`no mutation "${name}"; there are ${MUTATIONS.map((one) => one.name).join(', ')}`)
const { changes } = mutation
const root = join(import.meta.dirname, '../../..')

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const own = changes.filter(({ file }) => url === pathToFileURL(join(root, file)).href)
    return own.length === 0 ? loaded : { ...loaded, source: mutate(mutation.name, own, String(loaded.source)) }
  },
})
