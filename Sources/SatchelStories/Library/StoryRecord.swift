import SatchelJSON
import SatchelStorage

/// What the index keeps of a file.
struct StoryRecord: Sendable {
  enum Content: Sendable {
    /// `isPurchased` is what the file says.
    case story(StorySummary, titleKey: String)
    case problem(StoryFailure)
  }

  var name: String
  var stamp: StoryStamp
  /// SHA-256; nil for a file that was not read.
  var hash: [UInt8]?
  var content: Content

  /// The id of the story that it holds.
  var story: String? {
    if case .story(let summary, _) = content { summary.id } else { nil }
  }
}

extension StoryRecord.Content {
  /// Texts of a header beyond this are no header, and would be a burden to everyone who lists the library.
  private static let mostBytes = 16 << 20

  /// Reads and checks a story's text.
  init(_ text: UnsafeRawBufferPointer, of file: String, source: StorySource) {
    do {
      let analysis = StoryAnalysis(try source.read(text))
      self = Self.content(analysis, file)
    } catch {
      self = .problem(StoryFailure(error, reading: text, source: source))
    }
  }

  private static func content(_ analysis: StoryAnalysis, _ file: String) -> StoryRecord.Content {
    let header = StoryHeader(analysis.table)
    guard let id = analysis.storyID(in: file), StoryID.isName(id) else {
      let fault = analysis.table.faults.first { $0.segment < 0 && $0.field == .id }
      let finding = fault.flatMap { FindingWriter(analysis).findings([$0]).first }
      return .problem(finding.map { StoryFailure($0) } ?? StoryFailure(code: .invalidID, message: "no id"))
    }
    let texts = [
      header.title, header.author, header.originalSource, header.culturalOrigin, header.synopsis,
      header.coverImageName, header.ageRange,
    ]
    let bytes = (texts.compactMap(\.self) + header.tags).reduce(0) { $0 + $1.utf8.count + 16 }
    guard bytes <= mostBytes else {
      return .problem(StoryFailure(code: .notAStory, message: "its header is larger than 16 MiB"))
    }
    let report = StoryReport(analysis)
    var summary = StorySummary(id: id, file: file)
    summary.title = header.title
    summary.author = header.author
    summary.originalSource = header.originalSource
    summary.culturalOrigin = header.culturalOrigin
    summary.synopsis = header.synopsis
    summary.coverImageName = header.coverImageName
    summary.estimatedReadingMinutes = header.estimatedReadingMinutes
    summary.ageRange = header.ageRange
    summary.tags = header.tags
    summary.isPurchased = header.isPurchased ?? false
    summary.segments = report.statistics.segments
    summary.choices = report.statistics.choices
    summary.endings = report.statistics.endings
    summary.words = report.statistics.words
    summary.shortestPath = report.statistics.shortestPath
    summary.longestPath = report.statistics.longestPath
    summary.shortestMinutes = report.statistics.shortestMinutes
    summary.longestMinutes = report.statistics.longestMinutes
    summary.pathCount = report.statistics.paths.saturated
    summary.errors = report.errorCount
    summary.warnings = report.warningCount
    return .story(summary, titleKey: TitleKey.key(of: header.title ?? ""))
  }
}

extension StoryAnalysis {
  /// The id of the story in a library: its own, or for Twee, which has none, its file's name without the extension.
  func storyID(in file: String) -> String? {
    table.isImported ? String(file.prefix(upTo: file.lastIndex(of: ".") ?? file.endIndex)) : table.string(.id)
  }
}
