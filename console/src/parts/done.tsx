/** Says that something succeeded: a status that screen readers read out. It stands there before it has a text. */
import { Text } from '@mantine/core'

export const Done = ({ text }: { text: string }) => (
  <Text component="output" display="block" size="sm" mb={text === '' ? 0 : 'sm'} dir="auto">
    {text}
  </Text>
)
