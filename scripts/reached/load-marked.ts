// Preloaded into the processes that a test starts. Node loads the marked source of a file of this repository, where there is one. The
// query of the URL of this module names the folder of marked sources.
import { existsSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = resolve(import.meta.dirname, '../..')
const sources = new URL(import.meta.url).searchParams.get('sources')!

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:')) return loaded
    const source = join(sources, relative(ROOT, fileURLToPath(url)))
    return source.startsWith(sources) && existsSync(source) ? { ...loaded, source: readFileSync(source, 'utf8') } : loaded
  },
})
