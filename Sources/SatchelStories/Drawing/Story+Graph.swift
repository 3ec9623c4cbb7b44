/// A language that draws graphs.
public enum StoryGraphForm: String, Sendable, CaseIterable {
  /// Graphviz.
  case dot
  case mermaid
}

extension Story {
  /// A picture of the story: a node a segment, an arrow a choice; start, endings, authentic path and findings are
  /// marked, and choices that lead nowhere are drawn to what they miss.
  public func graph(_ form: StoryGraphForm) -> String {
    let drawing = StoryDrawing(analysis)
    switch form {
    case .dot: return drawing.dot
    case .mermaid: return drawing.mermaid
    }
  }
}
