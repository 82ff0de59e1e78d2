/** Of what a message says, wherever one is written. */
export const content = {
  type: 'Type',
  message: 'Message',
  asJson: 'The content of this type, as JSON.',
  notJson: 'This is not JSON. Check its brackets, quotes and commas.',
  nothing: 'What you write is shown here.',
  template: 'Template',
  choose: 'Choose one',
  fileAddress: (kind: string) => `The https address of the ${kind}.`,
} as const
