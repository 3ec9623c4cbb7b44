import ArgumentParser
import Satchel

/// `satchel story graph`: draws a story.
struct StoryGraphCommand: ParsableCommand {
  enum Form: String, ExpressibleByArgument, CaseIterable {
    case dot, mermaid, svg
  }

  static let configuration = CommandConfiguration(
    commandName: "graph",
    abstract: "Draw a story: its segments, and the choices between them.",
    discussion: """
      A house is the start, a double border an ending, blue the authentic path. What "lint" finds is red or \
      yellow, and a choice that leads nowhere is dashed.

        satchel story graph tale.json | dot -Tpng -o tale.png
        satchel story graph tale.json --format mermaid >> tale.md
        satchel story graph tale.json --format svg -o tale.svg

      dot is the language of Graphviz; mermaid is what code hosts draw inside Markdown; svg is drawn by Graphviz, \
      which has to be installed for it (apt install graphviz).

      Exit codes: 0 drawn, however unsound the story is; 2 could not run.
      """)

  @Argument(help: StoryHelp.file, completion: .file(extensions: StoryFile.extensions))
  var file: String

  @Option(help: "What to draw in.")
  var format = Form.dot

  @Option(name: [.short, .long], help: StoryHelp.output, completion: .file())
  var output: String?

  @Option(help: ArgumentHelp("How long Graphviz may take for an svg.", valueName: "seconds"))
  var timeLimit = 60

  func validate() throws {
    guard (1...86_400).contains(timeLimit) else {
      throw ValidationError("--time-limit: \(timeLimit) is not a number of seconds from 1 to 86400")
    }
  }

  func run() throws {
    let story = try StoryFiles.file(file).storyOrComplaint()
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
