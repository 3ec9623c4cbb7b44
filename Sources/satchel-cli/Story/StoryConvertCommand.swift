import ArgumentParser
import Satchel

/// `satchel story convert`: makes a story of a Twine game.
struct StoryConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Make a story of a Twine game (Twee 3).",
    discussion: """
      Passages become segments, links become choices. A passage with the tag "authentic" is on the authentic path; \
      where none has it, a shortest way to an ending is. What Twee does not know (author, synopsis, age range) \
      is there and empty, for its author to fill in: "lint" lists it. In Twine, "Export As Twee" writes such a file.

        satchel story convert game.twee -o game.json
        satchel story convert game.twee --id the-cave | satchel story lint -

      Exit codes: 0 converted; 2 could not run, as when the file is no Twee.
      """)

  @Argument(
    help: ArgumentHelp("A game as Twee 3, or - for the standard input.", valueName: "file"),
    completion: .file(extensions: ["twee", "tw"]))
  var file: String

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file())
  var output: String?

  @Option(help: "The story's id; made of its title when not given.")
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
