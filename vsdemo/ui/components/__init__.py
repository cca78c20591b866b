"""What several tabs show: HTML pieces, plotly."""
