// Preloaded into the processes that a test starts: what Node loads of this repository there is what stands in the folder of
// marked sources, where that has it. The folder is in the query of the URL that this is imported by.
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
