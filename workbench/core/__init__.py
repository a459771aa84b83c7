"""What measures configs of a model honestly and keeps what was seen. Knows no feature and draws nothing."""
