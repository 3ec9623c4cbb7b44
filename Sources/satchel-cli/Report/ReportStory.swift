import Satchel

/// The content of a report for one file.
struct ReportStory: Sendable {
  let file: String
  var header: StoryHeader?
  var statistics: StoryStatistics?
  var paths: PathText?
  var findings: [StoryFinding] = []
  /// An SVG element; nil when the graph is not drawn.
  var picture: String?
  /// The reason why the graph is not drawn.
  var note: String?

  /// The maximum number of segments of a story that is drawn; larger graphs are unreadable.
  static let maxSegments = 400
  /// The time limit for drawing one graph.
  static let seconds = 10

  /// - Parameters:
  ///   - draws: whether to draw the graph
  ///   - note: the reason when `draws` is false
  /// - Returns: nil for a file in a directory that is no story
  init?(_ file: StoryFile, draws: Bool, note: String?) {
    self.file = file.name
    do {
      let story = try file.story()
      let statistics = story.statistics
      header = story.header
      self.statistics = statistics
      paths = PathText(story, statistics)
      findings = story.check().findings
      if draws { draw(story) } else { self.note = note }
    } catch is StoryFile.NoStory {
      return nil
    } catch {
      findings = [
        error as? StoryFinding
          ?? StoryFinding(.unreadable, pointer: "", position: StoryFile.start, message: "\(error)")
      ]
    }
  }

  var title: String {
    for text in [header?.title, header?.id] {
      if let text, text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) { return text }
    }
    return file
  }

  var errors: Int { findings.reduce(0) { $0 + ($1.severity == .error ? 1 : 0) } }
  var warnings: Int { findings.count - errors }

  private mutating func draw(_ story: Story) {
    guard story.segmentCount > 0 else {
      note = "There is nothing to draw."
      return
    }
    guard story.segmentCount <= Self.maxSegments else {
      note = "Not drawn: it has more than \(Self.maxSegments) segments."
      return
    }
    do {
      let svg = try Graphviz.svg(story.graph(.dot), seconds: Self.seconds)
      picture = HTML.picture(svg, label: "Graph of \(title)")
      if picture == nil { note = "Not drawn: Graphviz gave no picture." }
    } catch {
      note = "Not drawn: \(error)."
    }
  }
}
