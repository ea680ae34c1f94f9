import { expect, test } from 'vitest'
import { performCommand } from './perform-command.ts'

test.each([
  [['plan', 'sts/web', 'app=app:v2', '-n', 'shop'], 'sluice upgrade sts/web app=app:v2 -n shop'],
  [['upgrade', 'sts/web', '--dry-run', '--max-unavailable', '2'], 'sluice upgrade sts/web --max-unavailable 2'],
  [['--', 'plan', 'pod/plan'], 'sluice -- upgrade pod/plan'],
  [['plan', 'pod/web', '--context', 'plan'], 'sluice upgrade pod/web --context plan'],
])('%j is done by: %s', (args, command) => {
  expect(performCommand({ program: 'sluice', args }, {}, {}).shell).toBe(command)
})

test('an undo takes back the run that the plan has shown, with the config that the environment named', () => {
  const invocation = { program: 'sluice', args: ['undo', 'sts/web', '--dry-run'] }
  expect(performCommand(invocation, {}, { SLUICE_CONFIG: 'prod.yaml' }, 'r7').shell).toBe(
    'sluice undo sts/web --run r7 --config prod.yaml',
  )
})
