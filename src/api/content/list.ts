/** Content `list`: a menu of up to ten rows in sections. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { body, footer, header, list as array, maybe, text } from './fields.ts'
import { headerContent, itemsAt, reportDuplicates, sectionTitles, sectionTotal, type Rule } from './rules.ts'

const row = Type.Object({
  id: text(1, 200, 'Your ID for the row; returned in the `list_reply`.'),
  title: text(1, 24, 'The visible text.'),
  description: maybe(text(0, 72, 'A second line under the title.')),
})

const section = Type.Object({
  title: maybe(text(0, 24, 'The headline of the section; required when there are several.')),
  rows: array(row, 1, 10, 'The rows to choose from.'),
})

const uniqueRows: Rule = (value, walk) => {
  const places = itemsAt(value, 'action', 'sections')
    .slice(0, 10)
    .flatMap((section, s) =>
      itemsAt(section, 'rows')
        .slice(0, 10)
        .map((_, r) => ['action', 'sections', s, 'rows', r, 'id'] as const),
    )
  reportDuplicates(value, places, walk, 'row id')
}

export const list = contentType({
  summary: 'A text with a button that opens a menu; the chosen row arrives as a `list_reply`.',
  schema: Type.Object({
    header,
    body,
    footer,
    action: Type.Object(
      {
        button: text(1, 20, 'The label of the button that opens the menu.'),
        sections: array(section, 1, 10, 'The groups of rows.'),
      },
      { description: 'The menu.' },
    ),
  }),
  example: {
    header: { type: 'text', text: 'Delivery' },
    body: { text: 'When should we come?' },
    footer: { text: 'Order A-1042' },
    action: {
      button: 'Choose a time',
      sections: [
        {
          title: 'Monday',
          rows: [
            { id: 'mon_am', title: 'Morning', description: '9 to 12' },
            { id: 'mon_pm', title: 'Afternoon', description: '13 to 17' },
          ],
        },
        { title: 'Tuesday', rows: [{ id: 'tue_am', title: 'Morning' }] },
      ],
    },
  },
  rules: [
    { sentence: 'All sections together have at most 10 rows.', check: sectionTotal('rows', 10, 'rows') },
    { sentence: 'The `id` of each row is unique over all sections.', check: uniqueRows },
    { sentence: 'Where there are several sections, each has a `title`.', check: sectionTitles },
    { sentence: 'A header of type `text` has a `text`, one of another type a `url`.', check: headerContent },
  ],
  direction: 'both',
})
