import ArgumentParser

/// What several commands say of their arguments.
enum StoryHelp {
  static let paths = ArgumentHelp(
    "Files, directories, or - for the standard input.", valueName: "path")
  static let file = ArgumentHelp("A story as JSON or Twee 3, or - for the standard input.", valueName: "file")
  static let output = ArgumentHelp(
    "Write to this file, which appears whole or not at all; - is the standard output.", valueName: "file")
}
