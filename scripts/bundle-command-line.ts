import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'

const root = resolve(import.meta.dirname, '..')

/**
 * Loads Node's own modules without an `import`: an import reads every export of the module, and so loads its lazy parts, such as Web
 * Crypto with `node:crypto` (9 ms), or Node's own undici with `node:http`.
 */
function builtinsAsTheyAre(): Plugin {
  return {
    name: 'builtins-as-they-are',
    // The bundle begins with an import of `node:module` alone. An older Node must be able to read it, to report the missing version.
    resolveId: (source) => (isBuiltin(source) && source !== 'node:module' ? `\0builtin ${source}` : null),
    load(id) {
      const name = id.startsWith('\0builtin ') ? id.slice('\0builtin '.length) : undefined
      return name === undefined ? null : `module.exports = process.getBuiltinModule('${name}')`
    },
  }
}

/**
 * The modules that several commands share, in few files: the search and read of fifty small files takes a tenth of the start of a
 * command. A single file would be slow too, since a command would read parts that it does not need.
 */
const FEWER_FILES = [
  { name: 'builtins', test: /^\0builtin / },
  // The command line itself needs these modules. Within `shared` they would load all the others at once.
  { name: 'at-once', test: /\/src\/(kube\/header-value|ports\/system|report\/inert)\.ts$/ },
  {
    name: 'shared',
    test: /\/(src\/(config|engine|journal|kube|plan|pods|ports|reasons|report|workloads)|machines|adapters)\//,
    minShareCount: 2,
  },
]

const modules = join(root, 'node_modules')

/** This file is loaded for rules from a URL alone, and needs more than dispatchers. */
const WHOLE_UNDICI = '/src/webhook/sources/follow-url.ts'

/** Resolves packages to the parts that are needed. The index of a package loads more, which takes most of the start of a command. */
function neededAlone(): Plugin {
  const dispatchers = join(modules, 'undici/lib/dispatcher')
  return {
    name: 'needed-alone',
    resolveId(source, importer) {
      if (source === './client-h2.js' && importer?.startsWith(dispatchers)) return '\0no HTTP/2'
      if (source === 'prom-client') return '\0metrics of prom-client'
      return source === 'undici' && !importer?.endsWith(WHOLE_UNDICI) ? '\0dispatchers of undici' : null
    },
    load(id) {
      // Sluice uses HTTP/1.1 only, and Node's http2 alone takes 4 ms to load.
      if (id === '\0no HTTP/2') return 'export default undefined'
      if (id === '\0dispatchers of undici') {
        const parts = Object.entries({ Pool: 'pool.js', ProxyAgent: 'proxy-agent.js' })
        const exported = parts.map(([name, file]) => `export { default as ${name} } from '${dispatchers}/${file}'`)
        // ProxyAgent asks for a tunnel with this method. The index of undici gives it to all dispatchers.
        const tunnels = `import Dispatcher from '${dispatchers}/dispatcher.js'
import connect from '${dispatchers}/../api/api-connect.js'
Dispatcher.prototype.connect = connect`
        return [...exported, tunnels].join('\n')
      }
      // The index of prom-client loads process metrics with OpenTelemetry, summaries, a gateway and clusters: four fifths of its code.
      if (id === '\0metrics of prom-client') {
        const parts = { Counter: 'counter.js', Gauge: 'gauge.js', Histogram: 'histogram.js', Registry: 'registry.js' }
        const exported = Object.entries(parts).map(
          ([name, file]) => `export { default as ${name} } from '${modules}/prom-client/lib/${file}'`,
        )
        return exported.join('\n')
      }
      return null
    },
  }
}

/** The options of the undici in Node itself: its second HTTP parser, an experiment of 240 KB, is left out. */
const UNDICI_WITHOUT_MILO = { esbuildDetection: '1' }

/** The programs that `sluice demo` starts as separate processes. demo/processes/program-file.ts expects them here. */
function demoPrograms(): Record<string, string> {
  const files = readdirSync(join(root, 'demo/programs')).filter((file) => !file.endsWith('.test.ts'))
  return Object.fromEntries(files.map((file) => [`demo-${basename(file, '.ts')}`, `demo/programs/${file}`]))
}

/**
 * Writes the command line into the folder, with the licenses of what is bundled, and returns the number of files. Each lazy import is a
 * file of its own, so that `--help` still loads only commander.
 */
export async function bundleCommandLine(folder: string): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const bundle = await rolldown({
    cwd: root,
    input: { sluice: 'src/cli/sluice.ts', ...demoPrograms() },
    platform: 'node',
    plugins: [neededAlone(), builtinsAsTheyAre()],
    transform: { target: 'node22.19', define: { SLUICE_VERSION: JSON.stringify(version), ...UNDICI_WITHOUT_MILO } },
    logLevel: 'warn',
  })
  try {
    const { output } = await bundle.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: { groups: FEWER_FILES },
    })
    chmodSync(join(folder, 'sluice.js'), 0o755)
    const chunks = output.filter((file) => file.type === 'chunk')
    writeLicenses(chunks, folder)
    return chunks.length
  } finally {
    await bundle.close()
  }
}

/** Writes the licenses of bundled packages, which must accompany their code. */
function writeLicenses(chunks: readonly OutputChunk[], target: string): void {
  const packages = new Set(
    chunks.flatMap(({ moduleIds }) =>
      moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0] ?? []),
    ),
  )
  const notices = [...packages].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license?: string
    }
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name)) : []
    const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').trim())
    return [`${manifest.name} ${manifest.version} (${manifest.license ?? 'see its text'})`, ...texts].join('\n\n')
  })
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), `${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}
