import ArgumentParser
import Satchel

/// `satchel story convert`: converts a Twine game to a story.
struct StoryConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a Twine game to a story.",
    discussion: """
      The game is Twee 3, a published page, or a directory of Twee files. Passages become segments, links become \
      choices. What only the game knows is kept: a choice with a target that is computed is "dynamic", and a \
      segment that menus or scripts may lead to has the "entry" "possible". Passages with the tag "authentic" form the authentic \
      path; without such passages it is a shortest path to an ending. Fields that Twee does not have \
      (author, synopsis, age range) are left empty for the author, and "lint" lists them. In Twine, "Export \
      As Twee" writes such a file.

        satchel story convert game.twee -o game.json
        satchel story convert game/src/ -o game.json
        satchel story convert published.html --id the-cave | satchel story lint -

      Exit codes: 0 converted; 2 could not run, for example because the file is no game.
      """)

  @Argument(
    help: ArgumentHelp(
      "A game as Twee 3 or a page, a directory of Twee files, or - for the standard input.", valueName: "path"
    ),
    completion: .file(extensions: StoryFile.tweeExtensions + StoryFile.pageExtensions))
  var file: String

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file())
  var output: String?

  @Option(help: "The story's id; derived from its title by default.")
  var id: String?

  func run() throws {
    let file = try StoryFiles.file(file)
    do {
      let story = try file.converted(id: id)
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
