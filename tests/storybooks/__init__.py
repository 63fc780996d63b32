"""A tiny Storybook, written by us, that speaks the preview's protocol."""
