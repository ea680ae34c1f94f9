import { expect, test } from 'vitest'
import { drainOrderOf } from './drain-order.ts'

test('load balancers stand by their turns, those of one turn together', () => {
  expect(
    drainOrderOf([
      { name: 'inner', drainTurn: 1 },
      { name: 'spare', drainTurn: 2 },
      { name: 'edge', drainTurn: 0 },
      { name: 'mesh', drainTurn: 2 },
    ]),
  ).toEqual([['edge'], ['inner'], ['spare', 'mesh']])
  expect(drainOrderOf([{ name: 'edge' }, { name: 'inner' }]), 'control: without turns all are one').toEqual([['edge', 'inner']])
})
