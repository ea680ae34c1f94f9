/**
 * Imports point one way. One positive table: folder → the folders that it may import; whatever is not named is
 * forbidden. `npm run lint` also cruises a planted violation, which must be found (scripts/check-imports.ts).
 */
const core = 'node core'
const table = {
  '^src/ports/': [],
  '^src/reasons/': [],
  '^src/pods/': ['^src/reasons/', 'zod'],
  '^src/endpoints/': ['^src/(reasons|pods)/', 'zod'],
  '^src/journal/': ['^src/(reasons|pods)/', 'zod'],
  '^src/plan/': ['^src/(reasons|pods)/'],
  '^machines/': ['^src/(reasons|pods)/', 'xstate'],
  '^adapters/contract\\.ts$': ['zod'],
  // A duration is written as in the rest of the config.
  '^adapters/(?!contract|aws-elbv2/|conformance/|credentials/|endpointslice/|http-client/|http/)': [
    '^adapters/',
    '^src/config/(duration|preset-file|show)\\.ts$',
    'yaml',
    'zod',
    core,
  ],
  // The client of sluice's own, with kubeconfigs as it reads them.
  '^adapters/endpointslice/': ['^adapters/', '^src/(kube|pods|ports)/', 'yaml', 'zod', core],
  '^adapters/credentials/': ['zod', core],
  '^adapters/http-client/': ['^adapters/(contract|watch-bytes)\\.ts$', '^adapters/credentials/', 'axios', 'zod', core],
  '^adapters/http/': ['^adapters/', '^src/config/duration\\.ts$', '@marcbachmann/cel-js', 'zod', core],
  '^adapters/aws-elbv2/': [
    '^adapters/',
    '^src/config/show\\.ts$',
    '@aws-sdk/client-elastic-load-balancing-v2',
    '@aws-sdk/credential-providers',
    'zod',
    core,
  ],
  '^adapters/conformance/': ['^adapters/', '^demo/load-balancer/', 'yaml', 'zod', core],
  '^src/config/': ['^adapters/', '^src/pods/', 'zod', 'yaml', 'fastest-levenshtein', core],
  '^src/kube/': ['^src/(ports|reasons|pods)/', 'undici', 'yaml', 'zod', core],
  '^src/leases/': ['^src/(ports|kube)/', 'zod'],
  '^src/observation/': ['^src/(ports|reasons|pods|journal|kube)/', 'zod'],
  '^src/workloads/': ['^src/(ports|reasons|pods|journal|plan|kube|observation)/', 'zod'],
  '^src/engine/': [
    '^src/(ports|reasons|pods|journal|plan|kube|leases|observation|workloads)/',
    '^machines/',
    '^adapters/contract\\.ts$',
    'xstate',
    'zod',
    core,
  ],
  // Facts in, findings out.
  '^src/explain/(?!read/)': ['^src/(reasons|endpoints)/'],
  // What reads the facts.
  '^src/explain/read/': [
    '^src/(ports|reasons|pods|endpoints|journal|plan|kube|leases|observation|workloads|engine|explain)/',
    '^adapters/contract\\.ts$',
    'zod',
  ],
  // What it finds are codes; what it reads with, the engine has.
  '^src/doctor/': ['^src/(ports|reasons|pods|endpoints|journal|kube|leases|workloads|engine)/', '^adapters/contract\\.ts$'],
  // The observer takes events and returns changes and findings.
  '^src/observer/(?!read/)': ['^src/(reasons|endpoints)/'],
  // These files make events from watches and load balancers.
  '^src/observer/read/': [
    '^src/(ports|reasons|pods|journal|endpoints|kube|observation|engine|observer)/',
    '^adapters/contract\\.ts$',
  ],
  '^src/report/(?!words/)': ['^src/(reasons|pods|journal|plan)/', '^src/engine/(account|events)\\.ts$', 'zod', core],
  // English: made from codes and their fields, and from nothing else.
  '^src/report/words/': [
    '^src/reasons/',
    '^src/(doctor/findings|observer/told|sync/(model|problems|sync-run)|webhook/sources/(look|rules-source))\\.ts$',
    '^src/report/(inert|elapsed)\\.ts$',
  ],
  // Telemetry counts the changes and findings of an observation.
  '^src/telemetry/': [
    '^src/(observer/(context|events|told)|sync/(problems|sync-run))\\.ts$',
    '^src/webhook/(start-webhook|touch/second-looks|admission/admission-event|rules/rule-set|sources/rules-source)\\.ts$',
    'prom-client',
  ],
  // The server knows no content: its caller passes the routes and the metrics.
  '^src/server/': ['^src/config/read-bounded\\.ts$', '@hono/node-server', 'hono', core],
  // Whatever runs in several replicas has one leader.
  '^src/leadership/': ['^src/(ports|kube|leases)/'],
  // Rules, decisions and patches: facts in, decisions out.
  '^src/webhook/(rules|decide)/': [
    '^src/(reasons|pods|endpoints|journal)/',
    '^src/webhook/',
    // A document of rules is read as a config is.
    '^src/config/(check|config-error|document|duration|nearest|show|wording)\\.ts$',
    '@marcbachmann/cel-js',
    '^@marcbachmann/cel-js/evaluator$',
    'zod',
  ],
  '^src/webhook/(?!rules/|decide/)': [
    '^src/(ports|reasons|pods|endpoints|journal|kube|observation|leadership|server)/',
    '^src/engine/rights\\.ts$',
    '^src/webhook/',
    '^src/workloads/testing/json-patch\\.ts$',
    '^src/config/(duration|read-bounded|show)\\.ts$',
    '@peculiar/x509',
    'hono',
    'reflect-metadata',
    'undici',
    'zod',
    core,
  ],
  // Copies of the endpoints of other clusters. The part that decides is pure.
  '^src/sync/': [
    '^src/(ports|reasons|pods|endpoints|journal|kube|observation|leadership)/',
    '^src/engine/rights\\.ts$',
    // The config is read as that of the load balancers is.
    '^src/config/(check|config-error|document|duration|nearest|read-config-file)\\.ts$',
    'zod',
    core,
  ],
  '^src/library/': [
    '^src/(ports|reasons|pods|journal|plan|kube|observation|workloads|engine|explain|doctor|observer|config|report)/',
    '^adapters/(contract|registry)\\.ts$',
    'zod',
    core,
  ],
  '^src/cli/': [
    '^src/',
    '^machines/',
    '^adapters/',
    '^demo/',
    'commander',
    'picocolors',
    'log-update',
    'string-width',
    'wrap-ansi',
    'pino',
    'yaml',
    'zod',
    core,
  ],
  '^sim/(?!http)': ['^src/ports/'],
  // Real sockets and real time: nothing that is simulated goes there.
  '^sim/http/': ['^sim/', '^src/ports/', core],
  '^demo/load-balancer/': [core],
  '^demo/(?!load-balancer/|webhook/)': ['^demo/', '^sim/', '^src/cli/output/', core],
  // The embedded API server has its writes decided by the code of the webhook itself.
  '^demo/webhook/': ['^sim/api-server/', '^src/webhook/(admission|cluster|decide|rules)/', '^src/ports/'],
  // The judge shares no code with what it judges.
  '^test/simulation/checker/': [],
  '^src/index\\.ts$': ['^src/', '^adapters/', '^machines/'],
}
const PURE = '^(src/(reasons|pods|endpoints|explain|observer|journal|plan|ports|report/words|webhook/(rules|decide))/|machines/)'
const TESTS = '\\.test\\.ts$'

const folderRules = Object.entries(table).map(([from, to]) => {
  const folders = to.filter((entry) => entry.startsWith('^'))
  const packages = to.filter((entry) => entry !== core && !entry.startsWith('^')).map((name) => `(^|/)node_modules/${name}/`)
  const allowed = [from.replace(/\(\?![^)]*\)/, ''), ...folders, ...packages]
  return {
    name: `only-what-the-table-allows: ${from}`,
    severity: 'error',
    from: { path: from, pathNot: TESTS },
    to: { pathNot: allowed.join('|'), ...(to.includes(core) ? { dependencyTypesNot: ['core'] } : {}) },
  }
})

module.exports = {
  forbidden: [
    ...folderRules,
    // The catalogue of reasons is one recursive type in several files: a reason may have another as its cause.
    { name: 'no-cycles', severity: 'error', from: { pathNot: '^src/reasons/' }, to: { circular: true } },
    {
      name: 'pure-folders-import-no-node-module',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'only-http-serves', severity: 'error', from: { path: '^sim/(?!http)', pathNot: TESTS }, to: { path: '^sim/http/' } },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { pathNot: `^(test|bench|scripts)/|${TESTS}` },
      to: { path: '^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Programs that use the package.
    exclude: { path: '^adapters/scaffold/templates/' },
    tsPreCompilationDeps: true,
    // TypeScript 7 has no JavaScript API: without swc, dependency-cruiser finds "no violations (0 modules)".
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
