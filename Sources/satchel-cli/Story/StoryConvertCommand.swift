import ArgumentParser
import Satchel

/// `satchel story convert`: converts a Twine game to a story.
struct StoryConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a Twine game (Twee 3) to a story.",
    discussion: """
      Passages become segments, links become choices. Passages with the tag "authentic" form the authentic \
      path; without such passages it is a shortest path to an ending. Fields that Twee does not have \
      (author, synopsis, age range) are left empty for the author, and "lint" lists them. In Twine, "Export \
      As Twee" writes such a file.

        satchel story convert game.twee -o game.json
        satchel story convert game.twee --id the-cave | satchel story lint -

      Exit codes: 0 converted; 2 could not run, for example because the file is not Twee.
      """)

  @Argument(
    help: ArgumentHelp("A game as Twee 3, or - for the standard input.", valueName: "file"),
    completion: .file(extensions: ["twee", "tw"]))
  var file: String

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file())
  var output: String?

  @Option(help: "The story's id; derived from its title by default.")
  var id: String?

  func run() throws {
    let file = try StoryFiles.file(file)
    do {
      let bytes = try file.bytes()
      let story = try Twee.story(bytes, id: id)
      let output = try Output(output)
      try output.put(story.pretty() + "\n")
      try output.finish()
    } catch let finding as StoryFinding {
      throw SatchelError(.invalid, finding.text(name: file.name))
    } catch let error as SatchelError where error.underlying is JSONError {
      throw SatchelError(error.code, "\(file.name.printable): \(error.message)")
    }
  }
}
