import ArgumentParser
import Satchel

/// `satchel story graph`: draws a story as a graph.
struct StoryGraphCommand: ParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case dot, mermaid, svg
  }

  static let configuration = CommandConfiguration(
    commandName: "graph",
    abstract: "Draw a story's segments and choices as a graph.",
    discussion: """
      The start is a house, endings have a double border, the authentic path is blue. Findings of "lint" are \
      red or yellow; choices without an existing target are dashed.

        satchel story graph tale.json | dot -Tpng -o tale.png
        satchel story graph tale.json --format mermaid >> tale.md
        satchel story graph tale.json --format svg -o tale.svg

      dot is the language of Graphviz; mermaid is rendered by code hosts in Markdown; svg is drawn by \
      Graphviz, which must be installed (apt install graphviz).

      Exit codes: 0 drawn, even if the story has errors; 2 could not run.
      """)

  @Argument(help: StoryHelp.file, completion: .file(extensions: StoryFile.extensions))
  var file: String

  @Option(help: "The output format.")
  var format = Format.dot

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file())
  var output: String?

  @Option(help: ArgumentHelp("The time limit for Graphviz when it draws an svg.", valueName: "seconds"))
  var timeLimit = 60

  func validate() throws {
    guard (1...86_400).contains(timeLimit) else {
      throw ValidationError("--time-limit: \(timeLimit) is not in 1 to 86400 seconds")
    }
  }

  func run() throws {
    let story = try StoryFiles.file(file).requiredStory()
    let picture = try draw(story)
    let output = try Output(output)
    try output.put(picture)
    try output.finish()
  }

  private func draw(_ story: Story) throws -> String {
    switch format {
    case .dot: return story.graph(.dot)
    case .mermaid: return story.graph(.mermaid)
    case .svg:
      do { return try Graphviz.svg(story.graph(.dot), seconds: timeLimit) } catch let error
        as Graphviz.Failure
      {
        throw SatchelError(.io, error.description)
      }
    }
  }
}
