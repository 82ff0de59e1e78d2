/** Fields of every resource, and the response of DELETE (behaviour: conventions 7). */
import { Type } from 'typebox'

export const objectName = <const N extends string>(name: N) =>
  Type.Literal(name, { description: `Always \`${name}\`.` })

export const Mode = Type.Unsafe<'live' | 'test'>({
  type: 'string',
  enum: ['live', 'test'],
  description: 'Of the keys that see it: `live` delivers and bills, `test` is the sandbox.',
})

export const deletedOf = <const N extends string>(name: N) =>
  Type.Object({
    id: Type.String({ description: 'The id that it had.' }),
    object: objectName(name),
    deleted: Type.Literal(true, { description: 'Always `true`.' }),
  })
